import { acceptByRules } from '@muster/core/boot-service'
import type { SystemCtx } from '@muster/core/context'
import { type Reconciler, reconcile } from './reconcile.ts'

/** Waiting machines repeat their request after 5 seconds at the earliest. */
const EVERY_MS = 2000

/** Accepts unknown machines that match a boot rule. */
export const reconcileBootRules = (runtime: SystemCtx): Reconciler =>
  reconcile('boot rules', EVERY_MS, runtime.log, () => acceptByRules(runtime))
