import { claimAlertDelivery, finishAlertDelivery, planAlertDeliveries, pruneAlerts } from '@muster/core/alerts'
import type { SystemCtx } from '@muster/core/context'
import type { LocalTarget } from '@muster/core/outbound'
import { send } from '../alerts/send.ts'
import { alertMessages } from '../metrics.ts'
import { workerCtx } from '../worker.ts'
import { reconcileDeliveries } from './deliveries.ts'
import { type Reconciler, reconcile } from './reconcile.ts'

// Change events trigger it; the interval covers lost events and due retries.
const EVERY_MS = 2000
const PRUNE_EVERY_MS = 3_600_000
/** Well below the lease of a route. */
const TIMEOUT_MS = 10_000

export type AlertOptions = { link: string; localTargets: readonly LocalTarget[]; timeoutMs?: number }

/** Delivers alerts on their routes, in all tenants: at least once, in order per route, with any number of workers. */
export function reconcileAlerts(
  runtime: SystemCtx,
  workerId: string,
  { timeoutMs = TIMEOUT_MS, ...options }: AlertOptions,
): Reconciler {
  const deliveries = reconcileDeliveries('alerts', EVERY_MS, runtime.log, {
    plan: () => planAlertDeliveries(runtime),
    claim: () => claimAlertDelivery(runtime),
    nameOf: ({ route }) => route.name,
    async deliver(claimed, signal) {
      const { route, delivery } = claimed
      const ctx = workerCtx({ runtime, workerId }, { id: delivery.id, tenantId: route.tenantId })
      const outcome = await send(ctx, claimed, { ...options, timeoutMs, signal })
      alertMessages.inc({ kind: route.kind, result: outcome ? 'failed' : 'ok' })
      if (outcome)
        runtime.log.warn(
          { route: route.name, attempts: delivery.attempts, reason: outcome.error },
          'an alert message was not delivered',
        )
      await finishAlertDelivery(ctx, claimed, outcome)
    },
  })
  const pruning = reconcile('old alerts', PRUNE_EVERY_MS, runtime.log, () => pruneAlerts(runtime))
  return {
    trigger: deliveries.trigger,
    stop: async () => void (await Promise.all([deliveries.stop(), pruning.stop()])),
  }
}
