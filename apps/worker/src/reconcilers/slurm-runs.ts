import { type SystemCtx, tenantCtx } from '@muster/core/context'
import { advanceSlurmRun, findUnfinishedSlurmRuns } from '@muster/core/runs'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 5000

/** Advances runs over batches of Slurm nodes, in all tenants. Any number of workers may run this. */
export const reconcileSlurmRuns = (runtime: SystemCtx, workerId: string): Reconciler =>
  reconcile('slurm runs', EVERY_MS, runtime.log, async () => {
    for (const { id, tenantId } of await findUnfinishedSlurmRuns(runtime)) {
      const ctx = tenantCtx(runtime, tenantId, { kind: 'worker', id: workerId, name: workerId })
      // One that fails must not stop the others.
      await advanceSlurmRun(ctx, { id }).catch((error: unknown) =>
        runtime.log.warn({ err: error, run: id }, 'could not advance a run over batches; it will be tried again'),
      )
    }
  })
