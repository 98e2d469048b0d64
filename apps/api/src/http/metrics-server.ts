import { createServer } from 'node:http'
import { hasToken } from '@muster/core/metrics-access'
import type { Metrics } from '../metrics.ts'
import type { HttpServer } from './server.ts'

/**
 * Serves /metrics on a port of its own, which monitoring can reach and users cannot: the metrics count objects of all tenants.
 * @param token required of clients; null: none
 * @throws Error when it cannot listen there
 */
export async function serveMetrics(
  { registry, read }: Pick<Metrics, 'registry' | 'read'>,
  { host, port, token = null }: { host: string; port: number; token?: string | null },
): Promise<HttpServer> {
  const server = createServer(async (req, res) => {
    if (req.url?.split('?', 1)[0] !== '/metrics') return void res.writeHead(404).end('Not found; try /metrics.\n')
    if (token !== null && !hasToken(req.headers.authorization, token))
      return void res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('Send the token of METRICS_TOKEN_FILE.\n')
    const text = await read().catch(() => null)
    if (text === null) return void res.writeHead(503).end('The metrics cannot be read.\n')
    res.writeHead(200, { 'content-type': registry.contentType }).end(text)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      throw new Error(`METRICS_PORT ${port} on ${host} is in use: choose another port.`)
    },
  )
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
