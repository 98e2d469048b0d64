import type { Log } from '@muster/core/log'

export type Reconciler = {
  /** Run now, or right after the turn that is under way. */
  nudge(): void
  /** No new turn begins; resolves when the one under way has ended. */
  stop(): Promise<void>
}

/** It rests for at least so many times as long as it worked: with much to look at it comes less often, and leaves room for what it looks at. */
const REST = 2

/**
 * Runs `work` again and again, `everyMs` after its last end. What must happen at some time hangs on this and not on
 * anybody's message, so one that fails is logged and simply comes again.
 */
export function reconcile(name: string, everyMs: number, log: Log, work: () => Promise<unknown>): Reconciler {
  let timer: NodeJS.Timeout
  let turn: Promise<void> | null = null
  let isStopped = false
  let isAgain = false
  const start = () => {
    clearTimeout(timer)
    isAgain = false
    const began = performance.now()
    turn = work()
      .then(
        () => {},
        (error) => log.warn({ err: error, reconciler: name }, 'a reconciler failed; it comes again'),
      )
      .then(() => {
        turn = null
        if (isStopped) return
        if (isAgain) start()
        else timer = setTimeout(start, Math.max(everyMs, REST * (performance.now() - began)))
      })
  }
  start()
  return {
    nudge() {
      if (isStopped) return
      if (turn) isAgain = true
      else start()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await turn
    },
  }
}
