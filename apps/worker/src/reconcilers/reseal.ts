import type { Runtime } from '@muster/core/context'
import { resealCredentials } from '@muster/core/credentials'
import { type Reconciler, reconcile } from './reconcile.ts'

// A rotation nudges it; this is for the nudge that was lost, and for what was sealed with the old key at that very moment.
const EVERY_MS = 30_000

/** Carries out a rotation of the key: seals anew, in all tenants, what was sealed with an older version than the newest. */
export function reconcileSeals(runtime: Runtime, workerId: string): Reconciler {
  const actor = { kind: 'worker', id: workerId, name: workerId } as const
  return reconcile('seals', EVERY_MS, runtime.log, async () => {
    const count = await resealCredentials({ ...runtime, actor })
    if (count > 0) runtime.log.info({ count }, 'sealed anew with the newest key')
  })
}
