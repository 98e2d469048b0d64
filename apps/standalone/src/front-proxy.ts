import http from 'node:http'
import type { Socket } from 'node:net'
import { createProxyServer } from 'httpxy'

const BUSY =
  'Muster is starting, or a part of it has a problem: the server behind this address does not answer. Try again in a moment.'

/**
 * The server in front of the API and the console: HTTP, SSE and WebSocket pass through unbuffered, with the client's own Host header.
 * While a target does not answer it says 503 in the shape of a GraphQL answer; what only reads is asked for twice before.
 * @param targets base URLs, as http://127.0.0.1:4000
 * @param trustProxy believe `X-Forwarded-*` and `Forwarded`: only with another proxy of ours in front. They decide rate limits and
 *   audit entries, so from anybody else they are dropped.
 */
export function createFront(targets: { api: string; console: string }, { trustProxy = false } = {}): http.Server {
  const proxy = createProxyServer({ xfwd: true })
  /** Requests that only read, with the headers that they came with, until they are asked for once more. */
  const repeatable = new WeakMap<http.IncomingMessage, http.IncomingHttpHeaders>()
  proxy.on('error', (_error, req, res) => {
    if (!req || !res) return
    if (!('writeHead' in res) || res.headersSent) return void res.destroy()
    // A connection that was kept may end at the moment of its next use.
    const headers = repeatable.get(req)
    if (headers && repeatable.delete(req)) {
      req.headers = headers
      return void proxy.web(req, res, prepare(req))
    }
    res
      .writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
      .end(JSON.stringify({ errors: [{ message: BUSY }] }))
  })
  // What clients sent before they went away is nobody's problem.
  proxy.on('econnreset', () => {})

  const prepare = (req: http.IncomingMessage) => {
    if (!trustProxy) dropClaims(req)
    return { target: isForApi(req.url ?? '/') ? targets.api : targets.console }
  }
  const server = http.createServer((req, res) => {
    if (req.method === 'GET') repeatable.set(req, { ...req.headers })
    void proxy.web(req, res, prepare(req))
  })
  server.on('upgrade', (req, socket, head) => void proxy.ws(req, socket as Socket, prepare(req), head))
  server.requestTimeout = 0 // the servers behind have limits of their own
  server.keepAliveTimeout = 75_000 // longer than agents pause between two heartbeats
  return server
}

/** /graphql, /api/…, /agent/v1/…, /sd/…, /health, /healthz, /readyz and /metrics. */
function isForApi(url: string): boolean {
  return /^\/(graphql|api|agent\/v1|sd|health|healthz|readyz|metrics)(?=[/?]|$)/.test(url)
}

function dropClaims(req: http.IncomingMessage): void {
  for (const name of Object.keys(req.headers))
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) delete req.headers[name]
}
