import { and, asc, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import { computeNodes } from './tables.ts'

/**
 * Waits for concurrent starts of runs on the nodes, which hold a share lock on their rows. Otherwise a run that is not yet committed would
 * be missed.
 */
export async function lockNodes(tx: Tx, ctx: Ctx, ids: string[]): Promise<void> {
  await tx
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids)))
    // Sorted, so that concurrent calls with the same nodes do not deadlock.
    .orderBy(asc(computeNodes.id))
    .for('update')
}

/** Condition: no unfinished run targets the node. A run that skips it does not count. */
export const noUnfinishedRun = (nodeId: string | AnyPgColumn): SQL =>
  sql`not exists (select from ${jobRunHosts} h join ${jobRuns} r on r.id = h.job_run_id where h.node_id = ${nodeId} and h.result <> 'OFFLINE'
    and r.finished_at is null)`

/** Display name of an unfinished run that targets the node (`collect_facts 019…`); null when there is none. */
export async function unfinishedRunOf(tx: Tx, nodeId: string): Promise<string | null> {
  const [run] = await tx
    .select({ id: jobRuns.id, name: jobRuns.templateName })
    .from(jobRunHosts)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunHosts.jobRunId))
    .where(and(eq(jobRunHosts.nodeId, nodeId), ne(jobRunHosts.result, 'OFFLINE'), isNull(jobRuns.finishedAt)))
    .limit(1)
  return run ? `${run.name} ${run.id}` : null
}
