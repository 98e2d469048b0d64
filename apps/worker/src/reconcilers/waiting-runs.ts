import type { Runtime } from '@muster/core/context'
import { wakeWaitingJobRuns } from '@muster/core/jobs'
import { type Reconciler, reconcile } from './reconcile.ts'

// Whoever frees nodes nudges it; this is for the nudge that was lost.
const EVERY_MS = 10_000

/** Puts runs whose turn on their nodes has come back into the queue, in all tenants. */
export function reconcileWaitingRuns(runtime: Runtime): Reconciler {
  return reconcile('waiting runs', EVERY_MS, runtime.log, () => wakeWaitingJobRuns(runtime))
}
