import type { Log } from '@muster/core/log'
import { type Reconciler, reconcile } from './reconcile.ts'

/** Deliveries that one worker makes concurrently, each to another destination. */
const CONCURRENCY = 16

type Deliveries<Claimed> = {
  /** Before deliveries are claimed. */
  plan?: () => Promise<unknown>
  claim(): Promise<Claimed | null>
  /** Makes an attempt and records its outcome. */
  deliver(claimed: Claimed, stopping: AbortSignal): Promise<void>
  /** Of the destination, for the log. */
  nameOf(claimed: Claimed): string
}

/** Claims and delivers what is due. A slow destination delays no other. */
export function reconcileDeliveries<Claimed>(
  name: string,
  everyMs: number,
  log: Log,
  { plan, claim, deliver, nameOf }: Deliveries<Claimed>,
): Reconciler {
  const stopping = new AbortController()
  const sending = new Set<Promise<void>>()

  async function sendOne(): Promise<boolean> {
    const claimed = await claim()
    if (!claimed) return false
    // Not awaited: a slow receiver must not delay others.
    const one = deliver(claimed, stopping.signal)
      .catch((error) =>
        log.warn(
          { err: error, destination: nameOf(claimed) },
          'could not record the outcome of a delivery; it will be made again',
        ),
      )
      .then(() => {
        sending.delete(one)
        passes.trigger()
      })
    sending.add(one)
    return true
  }

  const passes = reconcile(name, everyMs, log, async () => {
    await plan?.()
    while (sending.size < CONCURRENCY && !stopping.signal.aborted && (await sendOne()));
  })
  return {
    trigger: passes.trigger,
    async stop() {
      stopping.abort(new Error('The worker stopped.'))
      await passes.stop()
      await Promise.all(sending)
    },
  }
}
