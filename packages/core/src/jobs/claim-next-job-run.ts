import type { Ctx, Runtime } from '../context.ts'
import { patiently } from '../patiently.ts'
import { type Claim, claimJobRun } from './claim-job-run.ts'
import { nextRun, setAside } from './queue-order.ts'

/**
 * Make the run whose turn it is this worker's, whichever tenant's. A queue's entry only says that there may be one: the order is
 * decided here, so that one tenant's thousand runs do not keep another's first one waiting. Bridges a database that is away.
 * @param token the claim's token to be, new for each call
 * @returns null when no run may begin now; `draining` when this worker is to begin none, though another one could
 */
export async function claimNextJobRun(
  runtime: Runtime,
  { workerId, token }: { workerId: string; token: string },
): Promise<{ ctx: Ctx; claim: Claim } | 'draining' | null> {
  for (;;) {
    const next = await patiently(() => nextRun(runtime.db, workerId))
    if (next === 'draining') return next
    if (next) {
      const ctx: Ctx = { ...runtime, actor: { kind: 'worker', id: workerId, name: workerId }, tenantId: next.tenantId }
      const claim = await patiently(() => claimJobRun(ctx, { ...next, workerId, token }))
      if (claim) return { ctx, claim }
      // Another worker was faster, or it waits for its nodes now: either way it is not the next one any more.
    } else if ((await patiently(() => setAside(runtime))) === 0) return null
    // Whoever made room just before the runs were set aside has not seen them wait, so we look once more.
  }
}
