import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isFromProxy, type ProxyTrust } from '@muster/core/proxy-secret'

/** Headers and ID of a request. `responseHeaders` are added to its response; null for WebSocket operations. */
export type RequestFacts = { headers: Headers; requestId: string; responseHeaders: Headers | null }

/** Internal header with the address of the client. The HTTP server overwrites what a client sends. */
export const PEER = 'x-muster-peer'

/** Facts of one request or WebSocket operation. A well-formed x-request-id is kept to correlate logs with those of proxies. */
export function requestFacts(headers: Headers, withResponse: boolean): RequestFacts {
  const given = headers.get('x-request-id')
  const requestId = given && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID()
  return { headers, requestId, responseHeaders: withResponse ? new Headers() : null }
}

/** Headers of a Node request. Node joins repeated headers. */
export function headersOf(req: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) if (typeof value === 'string') headers.set(name, value)
  return headers
}

/**
 * Sets the header PEER of a new request: the last address in X-Forwarded-For of a trusted proxy, otherwise the address of the peer.
 * Peers on this machine are not trusted by their address: playbooks can connect from it. Removes the proxy secret.
 */
export function identifyClient(req: IncomingMessage, trust: ProxyTrust): void {
  const { headers } = req
  const forwarded = isFromProxy(headers, trust) ? String(headers['x-forwarded-for']).split(',').at(-1)!.trim() : ''
  // The address becomes the host of a node when an agent registers, so nothing else is accepted.
  const address = isIP(forwarded) ? forwarded : (req.socket.remoteAddress ?? '')
  headers[PEER] = address.replace(/^::ffff:(?=\d+\.)/, '')
}

/** Client address for rate limits, the audit log and agent registration, as set by `identifyClient`. */
export const clientAddress = ({ headers }: Pick<RequestFacts, 'headers'>): string => headers.get(PEER) ?? '127.0.0.1'

/**
 * Why a request must not use its session cookie; null when it may. Prevents cross-site request forgery: browsers send the Origin of
 * the page. Other clients send neither Origin nor cookie.
 */
export function foreignOriginReason(headers: Headers, publicUrl: string): string | null {
  const origin = headers.get('origin')
  if (!origin || !headers.has('cookie')) return null
  if (origin === new URL(publicUrl).origin) return null
  // Other host names of this server are allowed: the reverse proxy forwards the Host header.
  const host = headers.get('x-forwarded-host') ?? headers.get('host')
  if (URL.canParse(origin) && new URL(origin).host === host) return null
  return `The origin ${origin} is not allowed: this installation is at ${publicUrl}. Use an API token instead of a cookie.`
}
