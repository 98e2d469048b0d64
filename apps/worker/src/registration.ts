import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemCtx } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import type { Observation } from '@muster/core/system'
import { endWorker, recordWorkerLiveness, registerWorker, type WorkerFacts, workerChanged } from '@muster/core/workers'
import { reconcile } from './reconcilers/reconcile.ts'

const LIVENESS_INTERVAL_MS = 5000
const CHECK_INTERVAL_MS = 60_000
const DEREGISTER_TIMEOUT_MS = 2000
// The running count may lag: a run that starts needs the CPU.
const COUNT_DELAY_MS = 250

/** This worker's row in the list of workers. */
export type Registration = {
  isDraining(): boolean
  /** Counts `work` as one of the runs that this worker executes. */
  whileRunning<T>(work: () => Promise<T>): Promise<T>
  /** Requests draining, as an admin would; used by SIGUSR2. */
  drain(): void
  end(): Promise<void>
}

type PausableQueue = { pause(): void; resume(): Promise<void> }

/** Registers the worker, keeps its row alive with the results of `check`, and pauses `queue` while it is drained. */
export async function registerPresence(
  runtime: SystemCtx,
  listener: Listener,
  queue: PausableQueue,
  facts: WorkerFacts,
  check: () => Promise<Observation[]> = async () => [],
): Promise<Registration> {
  const id = await registerWorker(runtime, facts)
  let running = 0
  let isDraining = false
  let findings: Observation[] | undefined
  const checks = reconcile('system checks', CHECK_INTERVAL_MS, runtime.log, async () => {
    findings = await check()
  })
  let isDrainRequested = false
  const reports = reconcile('liveness', LIVENESS_INTERVAL_MS, runtime.log, async () => {
    const wasDraining = isDraining
    const drain = isDrainRequested
    isDrainRequested = false
    const reported = { id, ...facts, running, ...(findings ? { findings } : {}) }
    const now = await recordWorkerLiveness(runtime, reported, { drain })
    isDraining = now.isDraining
    if (isDraining === wasDraining) return
    runtime.log.info(isDraining ? 'the worker is draining: it starts no more runs' : 'the worker starts runs again')
    if (isDraining) queue.pause()
    else await queue.resume()
  })
  const off = listener.on(workerChanged, id, reports.trigger)
  let counting: NodeJS.Timeout | undefined
  const change = (by: number) => {
    running += by
    clearTimeout(counting)
    counting = setTimeout(reports.trigger, COUNT_DELAY_MS)
  }
  return {
    isDraining: () => isDraining,
    async whileRunning(work) {
      change(1)
      try {
        return await work()
      } finally {
        change(-1)
      }
    },
    drain() {
      isDrainRequested = true
      reports.trigger()
    },
    async end() {
      off()
      clearTimeout(counting)
      await checks.stop()
      await reports.stop()
      // If the database is unavailable, the missing liveness shows that the worker is gone.
      await Promise.race([endWorker(runtime, id).catch(() => {}), sleep(DEREGISTER_TIMEOUT_MS)])
    },
  }
}
