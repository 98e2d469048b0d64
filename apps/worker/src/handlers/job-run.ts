import { randomUUID } from 'node:crypto'
import type { ArtifactStore } from '@muster/core/artifacts'
import { claimNextJobRun } from '@muster/core/jobs'
import { patiently } from '@muster/core/patiently'
import type { QueueEntry } from '@muster/core/queue'
import { executeRun } from '../ansible/execute-run.ts'
import type { ExecutorConfig } from '../ansible/execution.ts'
import type { Isolation } from '../ansible/isolation/isolation.ts'
import { measured } from '../metrics.ts'
import type { Presence } from '../presence.ts'
import type { WorkerDeps } from '../worker.ts'

type Deps = WorkerDeps<ExecutorConfig> & {
  isolation: Isolation
  store: ArtifactStore
  presence: Pick<Presence, 'isDraining' | 'whileRunning'>
}

/**
 * Handles `job-run` entries: an entry says that a run may begin, and claims say which. One is executed after the other until none
 * may begin.
 */
export function jobRunHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  const { runtime, workerId, presence, stopping } = deps
  const isLeaving = () => stopping.aborted || presence.isDraining()
  return async (entry) => {
    // A worker that is about to end, or is drained, leaves the run to another one.
    const passOn = () => patiently(() => runtime.db.transaction((tx) => runtime.queue.send(tx, 'job-run', [entry])))
    if (isLeaving()) return passOn()
    while (!isLeaving()) {
      // Made beforehand: a claim whose answer was lost is known again as ours.
      const next = await claimNextJobRun(runtime, { workerId, token: randomUUID() })
      if (next === 'draining') return passOn()
      if (!next) return
      const { ctx, claim } = next
      await presence.whileRunning(() => measured(ctx, claim.run.id, () => executeRun(deps, ctx, claim)))
    }
  }
}
