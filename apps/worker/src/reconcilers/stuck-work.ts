import type { Runtime } from '@muster/core/context'
import { endStuckWork } from '@muster/core/nodes'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 30_000

/** Ends connection tests and discoveries whose worker was lost, in all tenants. */
export function reconcileStuckWork(runtime: Runtime): Reconciler {
  return reconcile('stuck work', EVERY_MS, runtime.log, () => endStuckWork(runtime))
}
