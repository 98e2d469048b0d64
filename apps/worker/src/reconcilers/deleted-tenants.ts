import { purgeDeletedTenants } from '@muster/core/access'
import type { ArtifactStore } from '@muster/core/artifacts'
import type { SystemCtx } from '@muster/core/context'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 60_000

/** Removes the data of deleted tenants, and then the tenants. */
export function reconcileDeletedTenants(runtime: SystemCtx, store: ArtifactStore): Reconciler {
  return reconcile('deleted tenants', EVERY_MS, runtime.log, async () => {
    const tenants = await purgeDeletedTenants(runtime, store)
    if (tenants > 0) runtime.log.info({ tenants }, 'removed deleted tenants')
  })
}
