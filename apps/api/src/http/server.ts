import { createServer, type Server, type ServerResponse } from 'node:http'
import { lingerOnClose } from '@muster/core/linger'
import type { ProxyTrust } from '@muster/core/proxy-secret'
import type { Api } from '../api.ts'
import { serveAgents } from './agents/endpoint.ts'
import { createGraphqlEndpoint } from './graphql-endpoint.ts'
import { identifyClient } from './request-facts.ts'
import { createRouter } from './router.ts'
import { attachWebSockets } from './web-sockets.ts'

/** Longer than the interval between two heartbeats, so that agents keep their connection. */
const KEEP_ALIVE_MS = 75_000
const DRAIN_MS = 10_000

/** Default: those of the endpoints. */
type Timeouts = { stallMs?: number; initTimeoutMs?: number; keepAliveMs?: number }

export type HttpServer = { port: number; stop(): Promise<void> }

/**
 * Serves `api` on host and port (0: a free port): the routes of router.ts, and WebSockets at /graphql. `stop()` makes /readyz fail,
 * ends subscriptions and waits up to 10 s for running operations.
 * @param trustedProxy default: X-Forwarded-For is ignored
 */
export async function serveHttp(
  api: Api,
  { host, port, trustedProxy = null, stallMs, ...timeouts }: { host: string; port: number; trustedProxy?: ProxyTrust } & Timeouts,
): Promise<HttpServer> {
  let isStopping = false
  const streams = new Set<ServerResponse>()
  const agents = serveAgents(api)
  const router = createRouter(api, {
    agents,
    graphql: createGraphqlEndpoint(api, { streams, isStopping: () => isStopping, stallMs }),
    isStopping: () => isStopping,
  })
  const server: Server = createServer((req, res) => {
    lingerOnClose(req)
    identifyClient(req, trustedProxy)
    void Promise.resolve(router.lookup(req, res)).catch(() => res.destroy())
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.on('upgrade', (req) => identifyClient(req, trustedProxy))
  const sockets = attachWebSockets(server, api, timeouts)

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
      // Subscribers continue from their cursor at another process, or at this one after its restart.
      await sockets.close()
      for (const stream of streams) stream.destroy()
      server.closeIdleConnections()
      const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
      await closed
      clearTimeout(deadline)
      await agents.stop()
    },
  }
}
