import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { claimSlurmOperation, type SlurmOperationKind } from '@muster/core/slurm-operations'
import type { Workflow } from '../slurm/operations/operation.ts'
import { newClaim, type OperationDeps, runOperation } from '../slurm/operations/run-operation.ts'
import { WORKFLOWS } from '../slurm/operations/workflows.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & OperationDeps

/** Executes an operation on a Slurm cluster. Another worker continues it when this one cannot end it. */
export function slurmOperationHandler(
  deps: Deps,
  workflows: Record<SlurmOperationKind, Workflow> = WORKFLOWS,
): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const claim = newClaim(entry.id)
    const claimed = await retryTransient(() => claimSlurmOperation(ctx, claim))
    if (claimed) await runOperation(ctx, claim, claimed, workflows[claimed.row.kind], deps)
  }
}
