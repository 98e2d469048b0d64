import type { Runtime } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import { endLostJobRuns } from '@muster/core/jobs'
import { type Reconciler, reconcile } from './reconcile.ts'

// A run is touched every 5 s and may go untouched for 30: it is over, or starts again, within 30 s of the touch that did not come.
const EVERY_MS = 4000

/** Ends runs whose worker is gone, in all tenants. Any number of workers may do this at once. */
export function reconcileLostRuns(runtime: Runtime, listener: Pick<Listener, 'onReconnect'>): Reconciler {
  let mayHaveMissed = false
  listener.onReconnect(() => {
    mayHaveMissed = true
  })
  return reconcile('lost runs', EVERY_MS, runtime.log, async () => {
    const missed = mayHaveMissed
    mayHaveMissed = false
    const counts = await endLostJobRuns(runtime, { mayHaveMissed: missed }).catch((error: unknown) => {
      mayHaveMissed ||= missed
      throw error
    })
    if (counts.ended + counts.retried + counts.reminded > 0) runtime.log.warn(counts, 'runs without a living worker')
  })
}
