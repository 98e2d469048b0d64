import type { SystemCtx } from '@muster/core/context'
import { checkSchedules, fireDueSchedules } from '@muster/core/schedules'
import { type Reconciler, reconcile } from './reconcile.ts'

/** The smallest unit of a rule is a minute. */
const FIRE_EVERY_MS = 2000
const CHECK_EVERY_MS = 15_000

/** Starts what schedules are due for, and raises and resolves the alert about failed ones. */
export function reconcileSchedules(runtime: SystemCtx): Reconciler[] {
  return [
    reconcile('schedules', FIRE_EVERY_MS, runtime.log, () => fireDueSchedules(runtime)),
    reconcile('schedule alerts', CHECK_EVERY_MS, runtime.log, () => checkSchedules(runtime)),
  ]
}
