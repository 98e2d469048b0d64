import { and, eq, isNull } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { authorize } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { jobRunChanged } from '../change-events.ts'
import { ClaimLost } from '../events/append-job-run-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { jobRuns } from '../tables.ts'

/**
 * Records the commit that a run uses. A restarted run uses the same commit.
 * @throws ClaimLost when the run ended or another worker has it
 */
export async function recordGitCommit(
  ctx: Ctx,
  { id, token, commit }: { id: string; token: string; commit: string },
): Promise<void> {
  authorize(ctx, jobRunPermissions.report)
  const written = await ctx.db
    .update(jobRuns)
    .set({ gitCommit: commit })
    .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), eq(jobRuns.claimToken, token), isNull(jobRuns.finishedAt)))
    .returning({ id: jobRuns.id })
  if (written.length === 0) throw new ClaimLost(`The run ${id} is no longer this worker's.`)
  ctx.notify(jobRunChanged({ id, tenantId: ctx.tenantId }))
}
