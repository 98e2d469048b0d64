import { claimAlertDelivery, finishAlertDelivery, planAlertDeliveries, pruneAlerts } from '@muster/core/alerts'
import type { SystemCtx } from '@muster/core/context'
import type { LocalTarget } from '@muster/core/outbound'
import { send } from '../alerts/send.ts'
import { alertMessages } from '../metrics.ts'
import { workerCtx } from '../worker.ts'
import { type Reconciler, reconcile } from './reconcile.ts'

// Change events trigger it; the interval covers lost events and due retries.
const EVERY_MS = 2000
const PRUNE_EVERY_MS = 3_600_000
/** Messages that one worker sends concurrently, each on another route. */
const CONCURRENCY = 16
/** Well below the lease of a route. */
const TIMEOUT_MS = 10_000

export type AlertOptions = { link: string; localTargets: readonly LocalTarget[]; timeoutMs?: number }

/** Delivers alerts on their routes, in all tenants: at least once, in order per route, with any number of workers. */
export function reconcileAlerts(
  runtime: SystemCtx,
  workerId: string,
  { timeoutMs = TIMEOUT_MS, ...options }: AlertOptions,
): Reconciler {
  const stopping = new AbortController()
  const sending = new Set<Promise<void>>()

  async function sendOne(): Promise<boolean> {
    const claimed = await claimAlertDelivery(runtime)
    if (!claimed) return false
    const ctx = workerCtx({ runtime, workerId }, { id: claimed.delivery.id, tenantId: claimed.route.tenantId })
    // Not awaited: a slow receiver must not delay others.
    const one = send(ctx, claimed, { ...options, timeoutMs, signal: stopping.signal })
      .then((outcome) => {
        alertMessages.inc({ kind: claimed.route.kind, result: outcome ? 'failed' : 'ok' })
        if (outcome)
          runtime.log.warn(
            { route: claimed.route.name, attempts: claimed.delivery.attempts, reason: outcome.error },
            'an alert message was not delivered',
          )
        return finishAlertDelivery(ctx, claimed, outcome)
      })
      .catch((error) =>
        runtime.log.warn(
          { err: error, route: claimed.route.name },
          'could not record the outcome of an alert message; it will be sent again',
        ),
      )
      .then(() => {
        sending.delete(one)
        deliveries.trigger()
      })
    sending.add(one)
    return true
  }

  const deliveries = reconcile('alerts', EVERY_MS, runtime.log, async () => {
    await planAlertDeliveries(runtime)
    while (sending.size < CONCURRENCY && !stopping.signal.aborted && (await sendOne()));
  })
  const pruning = reconcile('old alerts', PRUNE_EVERY_MS, runtime.log, () => pruneAlerts(runtime))
  return {
    trigger: deliveries.trigger,
    async stop() {
      stopping.abort(new Error('The worker stopped.'))
      await Promise.all([deliveries.stop(), pruning.stop()])
      await Promise.all(sending)
    },
  }
}
