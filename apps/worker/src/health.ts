import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { registry } from './metrics.ts'

/**
 * Answers /healthz (the process lives), /readyz (it can work; 503 with the reason otherwise) and /metrics.
 * @param whyNotReady null when ready
 * @param note what /readyz says besides
 * @throws Error when it cannot listen there
 */
export async function serveHealth(host: string, port: number, whyNotReady: () => Promise<string | null>, note: string) {
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type }).end(body)
    try {
      if (request.url === '/healthz') return answer(200, 'ok\n')
      if (request.url === '/metrics') return answer(200, await registry.metrics(), registry.contentType)
      if (request.url !== '/readyz') return answer(404, 'There is /healthz, /readyz and /metrics.\n')
      const reason = await whyNotReady()
      return reason ? answer(503, `${reason}\n`) : answer(200, `ready\n${note}\n`)
    } catch {
      return answer(503, 'The database does not answer.\n')
    }
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      throw new Error(`WORKER_PORT ${port} on ${host} is taken: choose another one, or 0 for any that is free.`)
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
