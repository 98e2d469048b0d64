import { randomUUID } from 'node:crypto'
import type { RequestFacts } from './context.ts'

/** Header in which the HTTP server notes the address of the other end; what a client sends there is overwritten. */
export const PEER = 'x-muster-peer'

/** Facts of one request or WebSocket operation. A sensible x-request-id is taken over, so that logs of proxies can be joined. */
export function requestFacts(headers: Headers, withResponse: boolean): RequestFacts {
  const given = headers.get('x-request-id')
  const requestId = given && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID()
  return { headers, requestId, responseHeaders: withResponse ? new Headers() : null }
}

/**
 * The address that rate limits count by.
 * @param trustProxy whoever connects is a proxy of ours; otherwise only one on this machine is believed when it names another
 */
export function clientAddress({ headers }: Pick<RequestFacts, 'headers'>, trustProxy = false): string {
  const peer = headers.get(PEER) ?? '127.0.0.1'
  const isLocal = /^(::ffff:)?127\.|^::1$/.test(peer)
  const forwarded = headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
  return ((isLocal || trustProxy) && forwarded) || peer
}

/**
 * Null when a request may use the cookie it carries, else why not. Browsers name the page that a request comes from; one of
 * another site must not act with the user's session. Programs send no Origin and no cookie and are not concerned.
 */
export function whyNotFromOrigin(headers: Headers, publicUrl: string): string | null {
  const origin = headers.get('origin')
  if (!origin || !headers.has('cookie')) return null
  if (origin === new URL(publicUrl).origin) return null
  // Also any other name under which this very server is reached: the console's proxy passes the Host on.
  const host = headers.get('x-forwarded-host') ?? headers.get('host')
  if (URL.canParse(origin) && new URL(origin).host === host) return null
  return `This request comes from a page of ${origin}, which is not this installation (${publicUrl}).`
}
