import type { SystemCtx } from '@muster/core/context'
import { decryptOpenchamiSecrets } from '@muster/core/credentials/access'
import {
  type CheckOutcome,
  type ClaimedTarget,
  claimOpenchamiTarget,
  finishOpenchamiCheck,
  releaseOpenchamiTarget,
} from '@muster/core/openchami'
import type { LocalTarget } from '@muster/core/outbound'
import { rememberSecrets } from '../audit/send-entries.ts'
import { outcomeOf } from '../delivery/outcome.ts'
import { checkTarget } from '../openchami/check-target.ts'
import { workerCtx } from '../worker.ts'
import { reconcileDeliveries } from './deliveries.ts'
import type { Reconciler } from './reconcile.ts'

const EVERY_MS = 10_000
/** Below the lease of a target. A push that takes longer continues in the next pass. */
const MAX_MS = 9 * 60_000

/** Compares the OpenCHAMI targets of all tenants when they are due or a check was requested, and pushes to those that want it. */
export function reconcileOpenchami(runtime: SystemCtx, workerId: string, localTargets: readonly LocalTarget[]): Reconciler {
  const secretsOf = rememberSecrets(decryptOpenchamiSecrets)
  return reconcileDeliveries('OpenCHAMI targets', EVERY_MS, runtime.log, {
    claim: () => claimOpenchamiTarget(runtime),
    nameOf: ({ target }: ClaimedTarget) => target.name,
    async deliver(claimed, stopping) {
      const { target } = claimed
      const ctx = workerCtx({ runtime, workerId }, { id: target.id, tenantId: target.tenantId })
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(MAX_MS)])
      let written = 0
      let result: CheckOutcome | null = null
      const failure = await outcomeOf(runtime.log, target.name, async () => {
        const { token } = await secretsOf(ctx, target)
        const to = { token, ca: target.caCertificate ?? undefined, localTargets, signal }
        const differences = await checkTarget(ctx, claimed, to, (count) => {
          written += count
        })
        result = { differences, written }
      })
      // Neither a stopping worker nor a long push that makes progress is a failure of the services: the check goes on.
      if (!result && (stopping.aborted || (signal.aborted && written > 0))) return releaseOpenchamiTarget(ctx, claimed)
      await finishOpenchamiCheck(ctx, claimed, result ?? { error: failure!.error, written })
    },
  })
}
