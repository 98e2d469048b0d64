import { createHmac, timingSafeEqual } from 'node:crypto'
import type { TriggerSignature } from './tables.ts'

/** A request is too old or too early when its time differs by more. Muster's documentation gives receivers of its webhooks the same window. */
const WINDOW_SECONDS = 300

/** Header values of a request, null when missing. */
export type SignedHeaders = { timestamp: string | null; signature: string | null; githubSignature: string | null }

/**
 * Checks the signature of a request, in constant time.
 * @returns the signature; null when it is missing, wrong, too old or too early
 */
export function verifySignature(
  kind: TriggerSignature,
  secret: string,
  { timestamp, signature, githubSignature }: SignedHeaders,
  body: Buffer,
  now: Date,
): string | null {
  const given = kind === 'github' ? githubSignature : signature
  const digest = /^sha256=([0-9a-f]{64})$/.exec(given ?? '')?.[1]
  if (!digest) return null
  const hmac = createHmac('sha256', secret)
  if (kind === 'muster') {
    if (!timestamp || !/^\d{10}$/.test(timestamp)) return null
    if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > WINDOW_SECONDS) return null
    hmac.update(`${timestamp}.`)
  }
  return timingSafeEqual(hmac.update(body).digest(), Buffer.from(digest, 'hex')) ? digest : null
}
