import { setTimeout as sleep } from 'node:timers/promises'
import { LimitError, MAX_REJECTIONS, REJECTIONS_PER_SECOND } from '../limits.ts'
import type { Auth } from '../sign-in/auth.ts'
import { callerKey } from '../sign-in/caller.ts'
import { clientAddress } from './request-facts.ts'

/** A request that would wait longer is rejected. */
const MAX_WAIT_MS = 5000
const SWEEP_MS = 1000

/**
 * Slows down callers that keep sending requests above a limit, because parsing and validating them delays everybody. The first
 * `free` of them do not wait. Then all requests of that caller follow one another, `intervalMs` apart, until as much time has passed.
 * Other callers never wait. Libraries of this kind release all waiting requests together, which others would notice.
 */
export function createPacer({
  free = MAX_REJECTIONS,
  intervalMs = 1000 / REJECTIONS_PER_SECOND,
  now = () => performance.now(),
} = {}) {
  /** When the next request of a caller may start; in the past while it has free ones left. */
  const next = new Map<string, number>()
  let sweptAt = now()
  const charge = (key: string) => {
    next.set(key, Math.max(next.get(key) ?? Number.NEGATIVE_INFINITY, now() - free * intervalMs) + intervalMs)
  }
  return {
    /** Whether a caller may have to wait. */
    isActive(): boolean {
      if (now() - sweptAt > SWEEP_MS) {
        sweptAt = now()
        for (const [key, at] of next) if (at < now() - free * intervalMs) next.delete(key)
      }
      return next.size > 0
    },
    /** Counts a request that is above a limit. */
    charge,
    /** Reserves a place behind the waiting requests of the caller. @returns the time to wait in ms; null when it is too long */
    enter(key: string): number | null {
      const waitMs = Math.max(0, (next.get(key) ?? 0) - now())
      if (waitMs > MAX_WAIT_MS) return null
      if (waitMs > 0) charge(key)
      return waitMs
    },
  }
}

/** The error of a request that would wait too long. */
export const tooManyRejected = () =>
  new LimitError('REJECTIONS', MAX_REJECTIONS, null, 'Wait some seconds, and correct the requests.')

/**
 * Waits until the caller may send its next request.
 * @returns a function to call when this one exceeds a limit; null when the caller sends too many of them
 */
export async function paceCaller(
  { deps: { auth }, pacer }: { deps: { auth: Pick<Auth, 'findCaller'> }; pacer: ReturnType<typeof createPacer> },
  headers: Headers,
): Promise<(() => Promise<void>) | null> {
  const keyOf = async () => callerKey(await auth.findCaller(headers).catch(() => null), clientAddress({ headers }))
  // While nobody sends such requests, callers are not looked up here.
  const waitMs = pacer.isActive() ? pacer.enter(await keyOf()) : 0
  if (waitMs === null) return null
  if (waitMs > 0) await sleep(waitMs)
  return async () => {
    if (waitMs === 0) pacer.charge(await keyOf())
  }
}
