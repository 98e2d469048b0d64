import type { ArtifactStore } from '@muster/core/artifacts'
import type { Runtime } from '@muster/core/context'
import { applyRetention } from '@muster/core/jobs'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 10 * 60_000

/** Removes logs, artifacts and runs that are older than their tenant keeps them. */
export function reconcileRetention(runtime: Runtime, store: ArtifactStore): Reconciler {
  return reconcile('retention', EVERY_MS, runtime.log, async () => {
    const counts = await applyRetention(runtime, store)
    if (counts.logs + counts.artifacts + counts.runs > 0) runtime.log.info(counts, 'removed what was older than it is kept')
  })
}
