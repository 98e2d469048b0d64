import type { Runtime } from '@muster/core/context'
import { endLostJobRuns } from '@muster/core/jobs'
import { type Reconciler, reconcile } from './reconcile.ts'

// With the 30 s that a run may go untouched, a lost run is over within 40 s.
const EVERY_MS = 10_000

/** Ends runs whose worker is gone, in all tenants. Any number of workers may do this at once. */
export function reconcileLostRuns(runtime: Runtime): Reconciler {
  return reconcile('lost runs', EVERY_MS, runtime.log, async () => {
    const counts = await endLostJobRuns(runtime)
    if (counts.ended + counts.retried + counts.reminded > 0) runtime.log.warn(counts, 'runs without a living worker')
  })
}
