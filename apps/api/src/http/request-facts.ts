import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Headers and id of a request. `responseHeaders` are added to its response; null where it has none. */
export type RequestFacts = { headers: Headers; requestId: string; responseHeaders: Headers | null }

/** Internal header with the address of the peer. The HTTP server overwrites what a client sends. */
export const PEER = 'x-muster-peer'

/** Facts of one request or WebSocket operation. A well-formed x-request-id is kept, so that logs of proxies can be correlated. */
export function requestFacts(headers: Headers, withResponse: boolean): RequestFacts {
  const given = headers.get('x-request-id')
  const requestId = given && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID()
  return { headers, requestId, responseHeaders: withResponse ? new Headers() : null }
}

/** The headers of a Node request; repeated ones are joined by Node, except cookies of a client, which it joins as well. */
export function headersOf(req: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) if (typeof value === 'string') headers.set(name, value)
  headers.set(PEER, req.socket.remoteAddress ?? '')
  return headers
}

/**
 * The client address that rate limits count by.
 * @param trustProxy whether every peer is a proxy of ours; otherwise X-Forwarded-For counts only from a proxy on this machine
 */
export function clientAddress({ headers }: Pick<RequestFacts, 'headers'>, trustProxy = false): string {
  const peer = headers.get(PEER) ?? '127.0.0.1'
  const isLocal = /^(::ffff:)?127\.|^::1$/.test(peer)
  const forwarded = headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
  return ((isLocal || trustProxy) && forwarded) || peer
}

/**
 * Why a request must not use the cookie it carries; null when it may. A browser names the page that sends a request, and a page of
 * another site must not act with the user's session. Programs send neither Origin nor cookie.
 */
export function foreignOriginReason(headers: Headers, publicUrl: string): string | null {
  const origin = headers.get('origin')
  if (!origin || !headers.has('cookie')) return null
  if (origin === new URL(publicUrl).origin) return null
  // Other names of this server are fine: the reverse proxy passes the Host header on.
  const host = headers.get('x-forwarded-host') ?? headers.get('host')
  if (URL.canParse(origin) && new URL(origin).host === host) return null
  return `This request comes from a page of ${origin}, which is not this installation (${publicUrl}).`
}
