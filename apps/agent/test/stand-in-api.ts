import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Heartbeat, heartbeatSlice, publicKey, RegisterRequest, readBody, verify } from '@muster/protocol'

type Said = { status?: number; headers?: Record<string, string>; body?: unknown }

/**
 * Stands in for the API where a test needs to say what it answers. It takes beats as the API does: signed over the bytes as received, and
 * growing. `answer` says what else it does with a beat.
 */
export async function standInApi(answer: (beat: Heartbeat) => Said | undefined = () => undefined, address = '127.0.0.1') {
  const registrations: RegisterRequest[] = []
  const accepted: Heartbeat[] = []
  const wrong: string[] = []
  const take = (path: string, body: Buffer): Said => {
    if (path.endsWith('/register')) {
      registrations.push(RegisterRequest.parse(readBody(body).value))
      return { body: { accepted: true } }
    }
    const { value } = readBody(body)
    const beat = Heartbeat.parse(value.heartbeat)
    const said = answer(beat)
    if (said) return said
    const key = registrations.at(-1)?.agent_pubkey
    if (!key) return refuse('node_not_registered')
    if (!verify(heartbeatSlice(body), Object(value.auth).signature, publicKey(key))) wrong.push('signature')
    const last = accepted.at(-1)
    if (last && position(beat) <= position(last)) return refuse('stale_sequence')
    if (Math.abs(Date.parse(beat.timestamp) - Date.now()) > 300_000) wrong.push('timestamp')
    accepted.push(beat)
    return { body: { accepted: true } }
  }
  const server = http.createServer((req, res) => {
    const parts: Buffer[] = []
    req.on('data', (part) => parts.push(part))
    req.on('end', () => {
      try {
        const { status = 200, headers = {}, body } = take(req.url ?? '', Buffer.concat(parts))
        res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      } catch (error) {
        wrong.push(String(error))
        res.writeHead(500).end()
      }
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, address, resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const down = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://${address}:${port}`, registrations, accepted, wrong, down, up: () => listen(port) }
}

export const refuse = (code: string): Said => ({ body: { accepted: false, error: { code, message: `says ${code}` } } })
export const position = ({ boot_epoch, sequence_number }: Heartbeat) => (boot_epoch ?? 0) * 1e3 + sequence_number
