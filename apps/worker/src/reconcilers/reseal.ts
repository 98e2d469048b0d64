import type { Runtime } from '@muster/core/context'
import { resealCredentials } from '@muster/core/credentials'
import { type Reconciler, reconcile } from './reconcile.ts'

// Also what a process that was not restarted yet still sealed with the old key is found within the hour.
const EVERY_MS = 3_600_000

/** Ends a rotation of the key: seals anew, in all tenants, what was sealed with another version than this worker's. */
export function reconcileSeals(runtime: Runtime, workerId: string): Reconciler {
  const actor = { kind: 'worker', id: workerId, name: workerId } as const
  return reconcile('seals', EVERY_MS, runtime.log, async () => {
    const count = await resealCredentials({ ...runtime, actor })
    if (count > 0) runtime.log.info({ count, keyVersion: runtime.vault.version }, 'sealed credentials anew')
  })
}
