import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { sql } from 'drizzle-orm'
import { serveAgents } from './agents/endpoint.ts'
import { download } from './downloads/index.ts'
import { inventoryPage } from './inventory.ts'
import { nodeMetricsPage } from './prometheus/node-metrics.ts'
import { sdTargetsPage } from './prometheus/sd-targets.ts'
import { PEER } from './request-facts.ts'
import type { Api } from './server.ts'
import { serveTokenPage } from './token-page.ts'
import { attachWebSockets } from './web-sockets.ts'

const KEEP_ALIVE_MS = 75_000
const DRAIN_MS = 10_000
const PAGES = new Map([
  ['/api/inventory', inventoryPage],
  ['/metrics/nodes', nodeMetricsPage],
  ['/sd/targets', sdTargetsPage],
])

export type HttpServer = { port: number; stop(): Promise<void> }

/**
 * Serve `api` on host and port (0: a free one): /graphql over HTTP, server-sent events and WebSocket, /api/inventory, the agents' paths,
 * /health, /healthz, /readyz and /metrics. `stop()` takes no more work, says so on /readyz, ends subscriptions and waits for operations under way, at most 10 s.
 */
export async function serveHttp(api: Api, { host, port }: { host: string; port: number }): Promise<HttpServer> {
  let isStopping = false
  const streams = new Set<ServerResponse>()
  const server: Server = createServer((req, res) => {
    void route(req, res).catch(() => res.destroy())
  })
  // Longer than agents pause between two heartbeats: they need no new connection for each.
  server.keepAliveTimeout = KEEP_ALIVE_MS
  const sockets = attachWebSockets(server, api)
  const agents = serveAgents(api)

  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    // Not parsed as a URL: clients send whatever they like, and much of it is none.
    const pathname = (req.url ?? '/').split('?', 1)[0]!
    if (await agents.serve(pathname, req, res)) return
    if (pathname === '/healthz') return answer(res, 200, 'ok')
    if (pathname === '/readyz') {
      const reason = isStopping ? 'stopping' : await whyNotReady(api)
      return answer(res, reason ? 503 : 200, reason ?? 'ok')
    }
    if (pathname === '/metrics') {
      res.setHeader('content-type', api.metrics.registry.contentType)
      return answer(res, 200, await api.metrics.registry.metrics())
    }
    const page = PAGES.get(pathname)
    if (page) return serveTokenPage(api, page, req, res)
    if (await download(api.deps, pathname, req, res)) return
    if (pathname !== '/graphql') return answer(res, 404, 'Nothing is here; the API is at /graphql.')
    if (isStopping) res.setHeader('connection', 'close')
    // Whatever a client wrote there is replaced by what is so.
    req.headers[PEER] = req.socket.remoteAddress ?? ''
    if (req.headers.accept?.includes('text/event-stream')) {
      streams.add(res)
      res.once('close', () => streams.delete(res))
    }
    await api.yoga.handle(req, res)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    async stop() {
      isStopping = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Who follows something goes on with its cursor at another process, or at this one when it is back.
      await sockets.close()
      for (const stream of streams) stream.destroy()
      server.closeIdleConnections()
      const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
      await closed
      clearTimeout(late)
      await agents.stop()
    },
  }
}

function answer(res: ServerResponse, status: number, text: string): void {
  if (!res.hasHeader('content-type')) res.setHeader('content-type', 'text/plain; charset=utf-8')
  res.writeHead(status).end(text)
}

/** The listener stands from the start on and comes back by itself; the database and the artifact store are asked. */
async function whyNotReady({ deps }: Api): Promise<string | null> {
  try {
    await deps.runtime.db.execute(sql`select 1`)
  } catch {
    return 'the database does not answer'
  }
  return deps.store.whyNotReady()
}
