import { requestDueRefreshes } from '@muster/core/clusters'
import type { SystemCtx } from '@muster/core/context'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 5000

/** Asks for a refresh of each Slurm cluster whose time has come. */
export const reconcileSlurmClusters = (runtime: SystemCtx): Reconciler =>
  reconcile('slurm clusters', EVERY_MS, runtime.log, () => requestDueRefreshes(runtime))
