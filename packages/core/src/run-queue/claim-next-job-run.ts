import type { Ctx, SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { retryTransient } from '../kernel/retry-transient.ts'
import { type Claim, claimJobRun } from './claim-job-run.ts'
import { queuePermissions } from './permissions.ts'
import { markWaiting, nextRun } from './queue-order.ts'

/**
 * Make the run whose turn it is this worker's, whichever tenant's. A queue's entry only says that there may be one: the order is
 * decided here, so that one tenant's thousand runs do not keep another's first one waiting. Bridges a database that is away.
 * @param token the claim's token to be, new for each call
 * @returns null when no run may begin now; `draining` when this worker is to begin none, though another one could
 */
export async function claimNextJobRun(
  ctx: SystemCtx,
  { workerId, token }: { workerId: string; token: string },
): Promise<{ ctx: Ctx; claim: Claim } | 'draining' | null> {
  authorize(ctx, queuePermissions.claim)
  for (;;) {
    const next = await retryTransient(() => nextRun(ctx.db, workerId))
    if (next === 'draining') return next
    if (next) {
      const claimCtx: Ctx = { ...ctx, actor: { kind: 'worker', id: workerId, name: workerId }, tenantId: next.tenantId }
      const claim = await retryTransient(() => claimJobRun(claimCtx, { ...next, workerId, token }))
      if (claim) return { ctx: claimCtx, claim }
      // Another worker was faster, or it waits for its nodes now: either way it is not the next one any more.
    } else if ((await retryTransient(() => markWaiting(ctx))) === 0) return null
    // Whoever made room just before the runs were set aside has not seen them wait, so we look once more.
  }
}
