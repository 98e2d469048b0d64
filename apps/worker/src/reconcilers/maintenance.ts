import type { SystemCtx } from '@muster/core/context'
import { endExpiredMaintenance } from '@muster/core/node-states'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 5000

/** Ends maintenance of nodes at its end time, in all tenants. */
export function reconcileMaintenance(runtime: SystemCtx): Reconciler {
  return reconcile('maintenance', EVERY_MS, runtime.log, async () => void (await endExpiredMaintenance(runtime)))
}
