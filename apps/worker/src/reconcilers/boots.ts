import { observeBoots } from '@muster/core/boot-service'
import type { SystemCtx } from '@muster/core/context'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 5000

/** Records the stages of boots that other facts show, ends boots, and raises and resolves their alerts. */
export const reconcileBoots = (runtime: SystemCtx): Reconciler =>
  reconcile('boots', EVERY_MS, runtime.log, () => observeBoots(runtime))
