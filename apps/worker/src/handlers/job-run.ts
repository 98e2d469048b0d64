import { randomUUID } from 'node:crypto'
import type { ArtifactStore } from '@muster/core/artifacts'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { claimNextJobRun } from '@muster/core/run-queue'
import { jobRunQueue } from '@muster/core/runs'
import type { ExecutorConfig } from '../ansible/deps.ts'
import { executeRun } from '../ansible/execute-run.ts'
import type { Isolation } from '../ansible/isolation/isolation.ts'
import { measured } from '../metrics.ts'
import type { Registration } from '../registration.ts'
import type { WorkerDeps } from '../worker.ts'

type Deps = WorkerDeps<ExecutorConfig> & {
  isolation: Isolation
  store: ArtifactStore
  presence: Pick<Registration, 'isDraining' | 'whileRunning'>
}

/**
 * Handles `job-run` entries. An entry means that some run may start; the claim selects it. Executes runs one after another until
 * none can be claimed.
 */
export function jobRunHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  const { runtime, workerId, presence, stopping } = deps
  const isUnavailable = () => stopping.aborted || presence.isDraining()
  return async (entry) => {
    // A stopping or drained worker leaves the run to another one.
    const requeue = () => retryTransient(() => runtime.db.transaction((tx) => runtime.queue.send(tx, jobRunQueue, [entry])))
    if (isUnavailable()) return requeue()
    while (!isUnavailable()) {
      // A token created here identifies this worker's claim when its response is lost.
      const next = await claimNextJobRun(runtime, { workerId, token: randomUUID() })
      if (next === 'draining') return requeue()
      if (!next) return
      const { ctx, claim } = next
      await presence.whileRunning(() => measured(ctx, claim.run.id, () => executeRun(deps, ctx, claim)))
    }
  }
}
