import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cachedMetrics } from '@muster/core/metrics'
import { hasToken } from '@muster/core/metrics-access'
import type { WorkerConfig } from './config.ts'
import { registry } from './metrics.ts'

/**
 * Serves /healthz (the process is alive), /readyz (it can work; otherwise 503 with the reason) and /metrics, which playbooks can reach
 * and must not read.
 * @param notReadyReason null when ready
 * @param note second line of /readyz
 * @param metricsToken null: no metrics
 * @throws Error when it cannot listen there
 */
export async function serveHealth(
  { HOST: host, WORKER_PORT: port }: Pick<WorkerConfig, 'HOST' | 'WORKER_PORT'>,
  {
    notReadyReason,
    note,
    metricsToken,
  }: { notReadyReason: () => Promise<string | null>; note: string; metricsToken: string | null },
) {
  const readMetrics = cachedMetrics(registry)
  const server = createServer(async (request, response) => {
    const respond = (status: number, body: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type }).end(body)
    try {
      if (request.url === '/healthz') return respond(200, 'ok\n')
      if (request.url === '/metrics') {
        if (metricsToken === null) return respond(404, 'Not found; set METRICS_TOKEN_FILE to serve metrics.\n')
        if (!hasToken(request.headers.authorization, metricsToken)) return respond(401, 'Send the token of METRICS_TOKEN_FILE.\n')
        return respond(200, await readMetrics(), registry.contentType)
      }
      if (request.url !== '/readyz') return respond(404, 'Not found; try /healthz, /readyz or /metrics.\n')
      const reason = await notReadyReason()
      return reason ? respond(503, `${reason}\n`) : respond(200, `ready\n${note}\n`)
    } catch {
      return respond(503, 'The database does not respond.\n')
    }
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      throw new Error(`WORKER_PORT ${port} on ${host} is in use: choose another port, or 0 for any free one.`)
    },
  )
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
