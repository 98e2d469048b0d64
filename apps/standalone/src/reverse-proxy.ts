import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { lingerOnClose } from '@muster/core/linger'
import { isFromProxy, PROXY_SECRET_HEADER } from '@muster/core/proxy-secret'
import { createProxyServer } from 'httpxy'
import { API_POLICY, responseHeaders } from './response-headers.ts'

const UNAVAILABLE = 'The Muster server is starting or unavailable. Try again in a moment.'

export type ReverseProxyOptions = {
  trustProxy?: boolean
  proxySecret?: string | null
  publicUrl?: string | undefined
  isDevelopment?: boolean
  tls?: { cert: string; key: string } | null
}

/**
 * Creates the reverse proxy in front of the API and the console. HTTP, SSE and WebSocket pass unbuffered, with the client's Host
 * header and with the case of all header names: some clients compare names of handshake headers case-sensitively.
 * Answers 503 in the shape of a GraphQL response while a target is unavailable, after one retry of GET requests.
 * @param targets base URLs, such as http://127.0.0.1:4000
 * @param trustProxy accept `X-Forwarded-*` and `Forwarded` from another proxy in front of this one. Rate limits and audit entries
 *   depend on them, so they are removed otherwise.
 * @param proxySecret with trustProxy, required of the other proxy. Sent to the API, which then trusts this proxy.
 * @param publicUrl address in browsers, for HSTS
 * @param tls certificate and key in PEM; null: plain HTTP
 * @param isDevelopment the API serves GraphiQL, which loads scripts
 */
export function createReverseProxy(
  targets: { api: string; console: string },
  { trustProxy = false, proxySecret = null, publicUrl, isDevelopment = false, tls = null }: ReverseProxyOptions = {},
): http.Server | https.Server {
  const headers = new Map(Object.entries(responseHeaders(publicUrl)))
  const proxy = createProxyServer({ xfwd: true, preserveHeaderKeyCase: true })
  /** Original headers of requests that may be retried once. */
  const retryable = new WeakMap<http.IncomingMessage, http.IncomingHttpHeaders>()
  proxy.on('error', (_error, req, res) => {
    if (!req || !res) return
    if (!('writeHead' in res) || res.headersSent) return void res.destroy()
    // The target may close a kept-alive connection while the request is being sent on it.
    const headers = retryable.get(req)
    if (headers && retryable.delete(req)) {
      req.headers = headers
      return void proxy.web(req, res, prepare(req))
    }
    res
      .writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
      .end(JSON.stringify({ errors: [{ message: UNAVAILABLE }] }))
  })
  proxy.on('econnreset', () => {}) // the client disconnected
  proxy.on('proxyReq', restoreNames)
  proxy.on('proxyReqWs', (proxyReq, req) => {
    restoreNames(proxyReq, req)
    proxyReq.once('upgrade', (response) => {
      response.headers = withOriginalNames(response)
    })
  })

  const prepare = (req: http.IncomingMessage) => {
    if (!isFromProxy(req.headers, trustProxy ? { secret: proxySecret } : null)) removeForwardedHeaders(req)
    if (!isApiPath(req.url ?? '/')) return { target: targets.console }
    if (proxySecret) req.headers[PROXY_SECRET_HEADER] = proxySecret
    return { target: targets.api }
  }
  const onRequest = (req: http.IncomingMessage, res: http.ServerResponse) => {
    lingerOnClose(req)
    res.setHeaders(headers)
    if (isApiPath(req.url ?? '/') && !isDevelopment) res.setHeader('content-security-policy', API_POLICY)
    if (req.method === 'GET') retryable.set(req, { ...req.headers })
    void proxy.web(req, res, prepare(req))
  }
  const server = tls ? https.createServer(tls, onRequest) : http.createServer(onRequest)
  server.on('upgrade', (req, socket, head) => void proxy.ws(req, socket as Socket, prepare(req), head))
  server.requestTimeout = 0 // the targets have their own limits
  server.keepAliveTimeout = 75_000 // longer than the interval between two heartbeats
  return server
}

/** /graphql, /api/…, /agent/v1/…, /boot/v1/…, /hsm/v2/…, /sd/…, /health, /healthz, /readyz and /metrics. */
function isApiPath(url: string): boolean {
  return /^\/(graphql|api|agent\/v1|boot\/v1|hsm\/v2|sd|health|healthz|readyz|metrics)(?=[/?]|$)/.test(url)
}

function removeForwardedHeaders(req: http.IncomingMessage): void {
  for (const name of Object.keys(req.headers))
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) delete req.headers[name]
}

/** Sets the header names of an outgoing request to the case that the client sent. */
function restoreNames(proxyReq: http.ClientRequest, req: http.IncomingMessage): void {
  for (const name of originalNames(req)) {
    const value = proxyReq.getHeader(name)
    if (value !== undefined) proxyReq.setHeader(name, value)
  }
}

function withOriginalNames(response: http.IncomingMessage): http.IncomingHttpHeaders {
  return Object.fromEntries(originalNames(response).map((name) => [name, response.headers[name.toLowerCase()]]))
}

/** Header names as they were received, without duplicates. */
function originalNames({ rawHeaders }: http.IncomingMessage): string[] {
  const names = rawHeaders.filter((_, i) => i % 2 === 0)
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()]
}
