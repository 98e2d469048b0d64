import type { Ctx, Runtime } from '@muster/core/context'
import { endStuckWork } from '@muster/core/nodes'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 30_000

/** Ends connection tests and discoveries whose worker was lost, in all tenants. */
export function reconcileStuckWork(runtime: Runtime): Reconciler {
  // Over all tenants: no tenant has the nil id.
  const ctx: Ctx = { ...runtime, actor: { kind: 'system', id: null, name: 'Muster' }, tenantId: NO_TENANT }
  return reconcile('stuck work', EVERY_MS, runtime.log, () => endStuckWork(ctx))
}

const NO_TENANT = '00000000-0000-0000-0000-000000000000'
