import { randomUUID } from 'node:crypto'
import { claimJobRun } from '@muster/core/jobs'
import { patiently } from '@muster/core/patiently'
import type { QueueEntry } from '@muster/core/queue'
import { executeRun } from '../ansible/execute-run.ts'
import type { ExecutorConfig } from '../ansible/execution.ts'
import { type WorkerDeps, workerCtx } from '../worker.ts'

/** Handles `job-run` entries: claims the run, if it is still to be had, and executes it. */
export function jobRunHandler(deps: WorkerDeps<ExecutorConfig>): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    // A worker that is about to end leaves the run to another one.
    if (deps.stopping.aborted) return patiently(() => ctx.db.transaction((tx) => ctx.queue.send(tx, 'job-run', [entry])))
    // Made beforehand: a claim whose answer was lost is known again as ours.
    const token = randomUUID()
    const claim = await patiently(() => claimJobRun(ctx, { id: entry.id, workerId: deps.workerId, token }))
    if (claim) await executeRun(deps, ctx, claim)
  }
}
