import type { SystemCtx } from '@muster/core/context'
import { reassignPowerWork, requestDueReadings } from '@muster/core/power'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 30_000

/** Resumes power runs and discoveries of lost workers, and schedules readings of power states, in all tenants. */
export function reconcilePower(runtime: SystemCtx): Reconciler {
  return reconcile(
    'power',
    EVERY_MS,
    runtime.log,
    async () => (await reassignPowerWork(runtime)) + (await requestDueReadings(runtime)),
  )
}
