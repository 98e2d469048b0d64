import { claimAlertDelivery, finishAlertDelivery, forgetOldAlerts, planAlertDeliveries } from '@muster/core/alerts'
import type { Runtime } from '@muster/core/context'
import { send } from '../alerts/send.ts'
import { alertMessages } from '../metrics.ts'
import { workerCtx } from '../worker.ts'
import { type Reconciler, reconcile } from './reconcile.ts'

// Whoever raises an alert nudges it; this is for the nudge that was lost, and for what is to be tried again by now.
const EVERY_MS = 2000
const FORGET_EVERY_MS = 3_600_000
/** Messages that one worker sends at once, each on a route of its own. */
const AT_ONCE = 16
/** Well within the lease of a route. */
const TIMEOUT_MS = 10_000

export type AlertOptions = { link: string; allowLocal: boolean; timeoutMs?: number }

/** Tells alerts on their routes, in all tenants: every message at least once, those of a route in order. Any number of workers. */
export function reconcileAlerts(
  runtime: Runtime,
  workerId: string,
  { timeoutMs = TIMEOUT_MS, ...options }: AlertOptions,
): Reconciler {
  const stopping = new AbortController()
  const sending = new Set<Promise<void>>()

  async function sendOne(): Promise<boolean> {
    const claimed = await claimAlertDelivery(runtime)
    if (!claimed) return false
    const ctx = workerCtx({ runtime, workerId }, { id: claimed.delivery.id, tenantId: claimed.route.tenantId })
    // Not awaited: a receiver that takes its time must not keep the others waiting.
    const one = send(ctx, claimed, { ...options, timeoutMs, signal: stopping.signal })
      .then((outcome) => {
        alertMessages.inc({ kind: claimed.route.kind, result: outcome ? 'failed' : 'ok' })
        if (outcome)
          runtime.log.warn(
            { route: claimed.route.name, attempts: claimed.delivery.attempts, why: outcome.error },
            'alerts were not taken',
          )
        return finishAlertDelivery(ctx, claimed, outcome)
      })
      .catch((error) =>
        runtime.log.warn({ err: error, route: claimed.route.name }, 'cannot write down how a message went; it comes again'),
      )
      .then(() => {
        sending.delete(one)
        turns.nudge()
      })
    sending.add(one)
    return true
  }

  const turns = reconcile('alerts', EVERY_MS, runtime.log, async () => {
    await planAlertDeliveries(runtime)
    while (sending.size < AT_ONCE && !stopping.signal.aborted && (await sendOne()));
  })
  const forgets = reconcile('old alerts', FORGET_EVERY_MS, runtime.log, () => forgetOldAlerts(runtime))
  return {
    nudge: turns.nudge,
    async stop() {
      stopping.abort(new Error('The worker stopped.'))
      await Promise.all([turns.stop(), forgets.stop()])
      await Promise.all(sending)
    },
  }
}
