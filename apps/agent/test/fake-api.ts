import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { extractHeartbeat, Heartbeat, parseBody, publicKey, RegisterRequest, verify } from '@muster/protocol'

type Response = { status?: number; headers?: Record<string, string>; body?: unknown }

/**
 * Fake API for tests that control its responses. Like the API, it verifies signatures over the received bytes and requires increasing
 * positions. `respond` overrides the response to a heartbeat. Protocol violations are collected in `violations`.
 */
export async function startFakeApi(
  respond: (heartbeat: Heartbeat) => Response | undefined = () => undefined,
  address = '127.0.0.1',
) {
  const registrations: RegisterRequest[] = []
  const accepted: Heartbeat[] = []
  const violations: string[] = []
  const handle = (path: string, body: Buffer): Response => {
    if (path.endsWith('/register')) {
      registrations.push(RegisterRequest.parse(parseBody(body).value))
      return { body: { accepted: true } }
    }
    const { value } = parseBody(body)
    const heartbeat = Heartbeat.parse(value.heartbeat)
    const override = respond(heartbeat)
    if (override) return override
    const key = registrations.at(-1)?.agent_pubkey
    if (!key) return rejection('node_not_registered')
    if (!verify(extractHeartbeat(body), Object(value.auth).signature, publicKey(key))) violations.push('signature')
    const last = accepted.at(-1)
    if (last && position(heartbeat) <= position(last)) return rejection('stale_sequence')
    if (Math.abs(Date.parse(heartbeat.timestamp) - Date.now()) > 300_000) violations.push('timestamp')
    accepted.push(heartbeat)
    return { body: { accepted: true } }
  }
  const server = http.createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      try {
        const { status = 200, headers = {}, body } = handle(req.url ?? '', Buffer.concat(chunks))
        res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      } catch (error) {
        violations.push(String(error))
        res.writeHead(500).end()
      }
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, address, resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://${address}:${port}`, registrations, accepted, violations, stop, restart: () => listen(port) }
}

export const rejection = (code: string): Response => ({
  body: { accepted: false, error: { code, message: `test: ${code}` } },
})
export const position = ({ boot_epoch, sequence_number }: Heartbeat) => (boot_epoch ?? 0) * 1e3 + sequence_number
