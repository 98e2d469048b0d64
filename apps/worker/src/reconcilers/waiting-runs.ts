import type { SystemCtx } from '@muster/core/context'
import { wakeWaitingJobRuns } from '@muster/core/run-queue'
import { type Reconciler, reconcile } from './reconcile.ts'

// Freed nodes trigger it; the interval covers lost events.
const EVERY_MS = 10_000

/** Enqueues runs that are next in line for all of their nodes, in all tenants. */
export function reconcileWaitingRuns(runtime: SystemCtx): Reconciler {
  return reconcile('waiting runs', EVERY_MS, runtime.log, () => wakeWaitingJobRuns(runtime))
}
