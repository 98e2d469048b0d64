import { and, eq, isNull, or } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { jobRunSlurmNodes, jobRuns } from '../tables.ts'

/** Nodes of a cluster that an unfinished run over batches has drained or has yet to run on: its number, by NodeName. */
export async function findNodesOfRuns(db: Tx | Ctx['db'], ctx: Ctx, clusterId: string): Promise<Map<string, number>> {
  const rows = await db
    .select({ name: jobRunSlurmNodes.name, number: jobRuns.number })
    .from(jobRunSlurmNodes)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunSlurmNodes.jobRunId))
    .where(
      and(
        visibleTo(ctx, jobRuns),
        isNull(jobRuns.finishedAt),
        eq(jobRunSlurmNodes.clusterId, clusterId),
        or(isNull(jobRunSlurmNodes.outcome), eq(jobRunSlurmNodes.isDrained, true)),
      ),
    )
  return new Map(rows.map(({ name, number }) => [name, number]))
}
