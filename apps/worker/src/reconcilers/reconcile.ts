import type { Log } from '@muster/core/log'

export type Reconciler = {
  /** Runs now, or right after the pass in progress. */
  trigger(): void
  /** Starts no further pass; resolves when the one in progress has ended. */
  stop(): Promise<void>
}

/** Pauses at least this many times as long as the last pass took, so that expensive passes do not load the database continuously. */
const PAUSE_FACTOR = 2

/**
 * Runs `work` periodically, `everyMs` after its last pass ended. Whatever must eventually happen depends on this and not on
 * notifications, so a failed pass is only logged and repeated.
 */
export function reconcile(name: string, everyMs: number, log: Log, work: () => Promise<unknown>): Reconciler {
  let timer: NodeJS.Timeout
  let pass: Promise<void> | null = null
  let isStopped = false
  let isTriggered = false
  const start = () => {
    clearTimeout(timer)
    isTriggered = false
    const began = performance.now()
    pass = work()
      .then(
        () => {},
        (error) => log.warn({ err: error, reconciler: name }, 'a reconciler failed; it will run again'),
      )
      .then(() => {
        pass = null
        if (isStopped) return
        if (isTriggered) start()
        else timer = setTimeout(start, Math.max(everyMs, PAUSE_FACTOR * (performance.now() - began)))
      })
  }
  start()
  return {
    trigger() {
      if (isStopped) return
      if (pass) isTriggered = true
      else start()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await pass
    },
  }
}
