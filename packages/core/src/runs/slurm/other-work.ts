import { and, eq, isNull, ne, or } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { slurmOperationNodes, slurmOperations } from '../../slurm-operations/tables.ts'
import { jobRunBatches, jobRunSlurmNodes, jobRuns } from '../tables.ts'

/** What other unfinished runs and operations do on a cluster. The last refresh may not show it yet. */
export type OtherWork = {
  /** Whether another run has taken the node out of service, or is about to. */
  isOut(name: string): boolean
  /** The operation that handles the node, as something to wait for; null when none does. */
  operationOf(name: string): string | null
}

/** @param runId the run that asks; null: a run that does not exist yet */
export async function readOtherWork(db: Tx | Ctx['db'], ctx: Ctx, clusterId: string, runId: string | null): Promise<OtherWork> {
  const held = await db
    .select({ name: jobRunSlurmNodes.name })
    .from(jobRunSlurmNodes)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunSlurmNodes.jobRunId))
    .innerJoin(jobRunBatches, eq(jobRunBatches.id, jobRunSlurmNodes.batchId))
    .where(
      and(
        visibleTo(ctx, jobRunSlurmNodes),
        eq(jobRunSlurmNodes.clusterId, clusterId),
        isNull(jobRuns.finishedAt),
        runId === null ? undefined : ne(jobRuns.id, runId),
        or(isNull(jobRunBatches.finishedAt), eq(jobRunSlurmNodes.isDrained, true)),
      ),
    )
  const out = new Set(held.map(({ name }) => name))
  const [operation] = await db
    .select()
    .from(slurmOperations)
    .where(and(visibleTo(ctx, slurmOperations), eq(slurmOperations.clusterId, clusterId), isNull(slurmOperations.finishedAt)))
  if (!operation) return { isOut: (name) => out.has(name), operationOf: () => null }
  const rows = await db
    .select({ name: slurmOperationNodes.name })
    .from(slurmOperationNodes)
    .where(eq(slurmOperationNodes.operationId, operation.id))
  const handled = new Set(rows.map(({ name }) => name))
  // The others restart the daemons of all nodes, and evaluate which of them work.
  const isPartial = operation.kind === 'SCALE_IN' || operation.kind === 'SCALE_OUT'
  const text = `the end of the operation ${operation.kind} ${operation.id} of ${operation.createdByName}`
  return {
    isOut: (name) => out.has(name) || (operation.kind === 'SCALE_IN' && handled.has(name)),
    operationOf: (name) => (!isPartial || handled.has(name) ? text : null),
  }
}
