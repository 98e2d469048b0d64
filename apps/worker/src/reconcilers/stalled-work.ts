import type { SystemCtx } from '@muster/core/context'
import { failStalledWork } from '@muster/core/discoveries'
import { reassignCredentialRotations } from '@muster/core/rotations'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 30_000

/** Fails connection tests and discoveries of lost workers and resumes their rotations of credentials, in all tenants. */
export function reconcileStalledWork(runtime: SystemCtx): Reconciler {
  return reconcile(
    'stalled work',
    EVERY_MS,
    runtime.log,
    async () => (await failStalledWork(runtime)) + (await reassignCredentialRotations(runtime)),
  )
}
