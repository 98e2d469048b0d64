import type { ArtifactStore } from '@muster/core/artifacts'
import type { SystemCtx } from '@muster/core/context'
import { applyRetention } from '@muster/core/runs'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 10 * 60_000

/** Removes logs, artifacts and runs past their tenant's retention. */
export function reconcileRetention(runtime: SystemCtx, store: ArtifactStore): Reconciler {
  return reconcile('retention', EVERY_MS, runtime.log, async () => {
    const counts = await applyRetention(runtime, store)
    if (counts.logs + counts.artifacts + counts.runs > 0) runtime.log.info(counts, 'applied retention')
  })
}
