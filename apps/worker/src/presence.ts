import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import { endWorker, registerWorker, touchWorker, type WorkerFacts } from '@muster/core/workers'
import { reconcile } from './reconcilers/reconcile.ts'

const TOUCH_MS = 5000
const FAREWELL_MS = 2000
// Nobody needs the count at once, and a run that begins needs the processor.
const COUNT_MS = 250

/** What the database knows of this worker, and what it says of it: whether it is to take no more work. */
export type Presence = {
  isDraining(): boolean
  /** Count `work` as one of the runs that this worker executes. */
  whileRunning<T>(work: () => Promise<T>): Promise<T>
  /** As an admin would, for whoever has only the process. */
  drain(): void
  end(): Promise<void>
}

type Intake = { pause(): void; resume(): Promise<void> }

/** Enter the worker into the list of workers, keep its entry alive, and take work from `intake` only while it is not drained. */
export async function announce(runtime: Runtime, listener: Listener, intake: Intake, facts: WorkerFacts): Promise<Presence> {
  const id = await registerWorker(runtime, facts)
  let running = 0
  let isDraining = false
  let isAsked = false
  const touches = reconcile('presence', TOUCH_MS, runtime.log, async () => {
    const wasDraining = isDraining
    const asked = isAsked
    isAsked = false
    const now = await touchWorker(runtime, { id, ...facts, running }, { drain: asked })
    isDraining = now.isDraining
    if (isDraining === wasDraining) return
    runtime.log.info(isDraining ? 'the worker is drained: it takes no more work' : 'the worker takes work again')
    if (isDraining) intake.pause()
    else await intake.resume()
  })
  const off = listener.on('worker', id, touches.nudge)
  let counting: NodeJS.Timeout | undefined
  const change = (by: number) => {
    running += by
    clearTimeout(counting)
    counting = setTimeout(touches.nudge, COUNT_MS)
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
      isAsked = true
      touches.nudge()
    },
    async end() {
      off()
      clearTimeout(counting)
      await touches.stop()
      // Who cannot be told sees soon that it is gone.
      await Promise.race([endWorker(runtime, id).catch(() => {}), sleep(FAREWELL_MS)])
    },
  }
}
