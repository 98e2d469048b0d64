import type { Ctx, SystemCtx } from '../kernel/context.ts'
import { authorize, tenantCtx } from '../kernel/context.ts'
import { retryTransient } from '../kernel/retry-transient.ts'
import { type Claim, claimJobRun } from './claim-job-run.ts'
import { queuePermissions } from './permissions.ts'
import { markWaiting, nextRun } from './queue-order.ts'

/**
 * Claims the next run of any tenant for the worker. A queue entry only signals that a run may be ready. The order is decided
 * here, so that a thousand runs of one tenant do not delay another tenant's first one. Retries while the database is unavailable.
 * @param token the claim's token, new for each call
 * @returns null when no run may start now; `draining` when this worker may start none but others could
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
      const claimCtx: Ctx = tenantCtx(ctx, next.tenantId, { kind: 'worker', id: workerId, name: workerId })
      const claim = await retryTransient(() => claimJobRun(claimCtx, { ...next, workerId, token }))
      if (claim) return { ctx: { ...claimCtx, runId: claim.run.id }, claim }
      // Another worker was faster, or the run waits for its nodes. In both cases the next call finds another run.
    } else if ((await retryTransient(() => markWaiting(ctx))) === 0) return null
    // A run may have become ready just before the others were marked as waiting, so check once more.
  }
}
