import type { SystemCtx } from '@muster/core/context'
import { reencryptCredentials } from '@muster/core/credentials'
import { type Reconciler, reconcile } from './reconcile.ts'

// A rotation triggers it; the interval covers lost events and records that were encrypted with the old key meanwhile.
const EVERY_MS = 30_000

/** Carries out a key rotation: re-encrypts, in all tenants, the records of older key versions. */
export function reconcileEncryption(runtime: SystemCtx, workerId: string): Reconciler {
  const actor = { kind: 'worker', id: workerId, name: workerId } as const
  return reconcile('encryption', EVERY_MS, runtime.log, async () => {
    const count = await reencryptCredentials({ ...runtime, actor })
    if (count > 0) runtime.log.info({ count }, 're-encrypted with the newest key')
  })
}
