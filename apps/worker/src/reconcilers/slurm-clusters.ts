import { failStalledSlurmTests, requestDueRefreshes } from '@muster/core/clusters'
import type { SystemCtx } from '@muster/core/context'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 5000

/** Asks for a refresh of each Slurm cluster whose time has come, and ends tests of lost workers. */
export const reconcileSlurmClusters = (runtime: SystemCtx): Reconciler =>
  reconcile('slurm clusters', EVERY_MS, runtime.log, async () => {
    await failStalledSlurmTests(runtime)
    return requestDueRefreshes(runtime)
  })
