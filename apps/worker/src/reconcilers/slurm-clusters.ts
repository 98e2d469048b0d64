import {
  checkSlurmClusters,
  failStalledSlurmLookups,
  failStalledSlurmTests,
  pruneSlurmLookups,
  requestDueRefreshes,
} from '@muster/core/clusters'
import type { SystemCtx } from '@muster/core/context'
import { reassignSlurmActions } from '@muster/core/slurm-actions'
import { reassignSlurmOperations } from '@muster/core/slurm-operations'
import { failStalledReadinessChecks, reassignReadinessChecks } from '@muster/core/slurm-scaling'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 5000
const ALERTS_EVERY_MS = 60_000

/** Enqueues due refreshes of Slurm clusters, ends tests and lookups of lost workers, and enqueues their actions and operations again. */
export const reconcileSlurmClusters = (runtime: SystemCtx): Reconciler =>
  reconcile('slurm clusters', EVERY_MS, runtime.log, async () => {
    await failStalledSlurmTests(runtime)
    await failStalledSlurmLookups(runtime)
    await pruneSlurmLookups(runtime)
    await failStalledReadinessChecks(runtime)
    await reassignReadinessChecks(runtime)
    return (await requestDueRefreshes(runtime)) + (await reassignSlurmActions(runtime)) + (await reassignSlurmOperations(runtime))
  })

/** Raises and resolves alerts about Slurm clusters. */
export const reconcileSlurmAlerts = (runtime: SystemCtx): Reconciler =>
  reconcile('alerts of slurm clusters', ALERTS_EVERY_MS, runtime.log, () => checkSlurmClusters(runtime))
