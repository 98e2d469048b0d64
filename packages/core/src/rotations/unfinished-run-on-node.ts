import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import { rotationPermissions } from './permissions.ts'

/** A started and unfinished run that targets the node, as `collect_facts #12`; null when there is none. */
export async function unfinishedRunOnNode(ctx: Ctx, nodeId: string): Promise<string | null> {
  authorize(ctx, rotationPermissions.report)
  const [run] = await ctx.db
    .select({ name: jobRuns.templateName, number: jobRuns.number })
    .from(jobRunHosts)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunHosts.jobRunId))
    .where(
      and(
        visibleTo(ctx, jobRuns),
        eq(jobRunHosts.nodeId, nodeId),
        isNotNull(jobRuns.startedAt),
        isNull(jobRuns.finishedAt),
        // Logs in nowhere: the runs of its batches do.
        isNull(jobRuns.slurm),
      ),
    )
    .limit(1)
  return run ? `${run.name} #${run.number}` : null
}
