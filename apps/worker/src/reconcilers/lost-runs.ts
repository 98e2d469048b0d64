import type { SystemCtx } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import { endLostJobRuns } from '@muster/core/runs'
import { type Reconciler, reconcile } from './reconcile.ts'

// Workers renew claims every 5 s; a run is lost 30 s after its last renewal. With this interval it ends within 35 s.
const EVERY_MS = 4000

/** Ends runs of lost workers, in all tenants. Any number of workers may run this. */
export function reconcileLostRuns(runtime: SystemCtx, listener: Pick<Listener, 'onReconnect'>): Reconciler {
  let wasDatabaseUnavailable = false
  listener.onReconnect(() => {
    wasDatabaseUnavailable = true
  })
  return reconcile('lost runs', EVERY_MS, runtime.log, async () => {
    const missed = wasDatabaseUnavailable
    wasDatabaseUnavailable = false
    const counts = await endLostJobRuns(runtime, { wasDatabaseUnavailable: missed }).catch((error: unknown) => {
      wasDatabaseUnavailable ||= missed
      throw error
    })
    if (counts.ended + counts.retried + counts.reminded > 0) runtime.log.warn(counts, 'handled runs of lost workers')
  })
}
