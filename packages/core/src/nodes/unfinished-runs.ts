import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import { computeNodes } from './tables.ts'

/**
 * Waits for concurrent starts of runs on the node, which hold a share lock on its row. Otherwise a run that is not yet committed would be
 * missed.
 */
export async function lockNode(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  await tx
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id)))
    .for('update')
}

/** Condition: no unfinished run targets the node. */
export const noUnfinishedRun = (nodeId: string): SQL =>
  sql`not exists (select from ${jobRunHosts} h join ${jobRuns} r on r.id = h.job_run_id where h.node_id = ${nodeId} and r.finished_at is null)`

/** Display name of an unfinished run that targets the node (`collect_facts 019…`); null when there is none. */
export async function unfinishedRunOf(tx: Tx, nodeId: string): Promise<string | null> {
  const [run] = await tx
    .select({ id: jobRuns.id, name: jobRuns.templateName })
    .from(jobRunHosts)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunHosts.jobRunId))
    .where(and(eq(jobRunHosts.nodeId, nodeId), isNull(jobRuns.finishedAt)))
    .limit(1)
  return run ? `${run.name} ${run.id}` : null
}
