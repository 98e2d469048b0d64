import { randomUUID } from 'node:crypto'
import { and, eq, isNull, or, sql } from 'drizzle-orm'
import type { Ctx } from '../context.ts'
import { visibleTo } from '../db/rows.ts'
import { type JobRun, jobRunHosts, jobRuns } from './tables.ts'

/** `token` is the claim's fencing token: whatever the worker writes carries it and counts only while it is the run's. */
export type Claim = { run: JobRun; token: string; hosts: { name: string; nodeId: string | null }[] }

/**
 * Make the run this worker's. Null when it is gone, canceled, over, or another worker's already.
 * @param token the claim's token to be; with it a call may be repeated after a lost answer
 */
export async function claimJobRun(
  ctx: Ctx,
  { id, workerId, token = randomUUID() }: { id: string; workerId: string; token?: string },
): Promise<Claim | null> {
  const [[run], hosts] = await Promise.all([
    ctx.db
      .update(jobRuns)
      .set({ startedAt: sql`now()`, touchedAt: sql`now()`, claimToken: token, claimedBy: workerId })
      .where(
        and(
          visibleTo(ctx, jobRuns),
          eq(jobRuns.id, id),
          isNull(jobRuns.finishedAt),
          or(and(isNull(jobRuns.startedAt), isNull(jobRuns.cancelRequestedAt)), eq(jobRuns.claimToken, token)),
        ),
      )
      .returning(),
    ctx.db
      .select({ name: jobRunHosts.name, nodeId: jobRunHosts.nodeId })
      .from(jobRunHosts)
      .where(eq(jobRunHosts.jobRunId, id))
      .orderBy(jobRunHosts.name),
  ])
  if (!run) return null
  ctx.notify({ topic: 'jobRun', id, tenantId: ctx.tenantId })
  return { run, token, hosts }
}
