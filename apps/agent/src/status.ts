import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import type { Agent } from './agent.ts'

export type Status = ReturnType<Agent['status']>

/** Numeric status fields with their Prometheus type. */
const METRICS = {
  total_heartbeats: 'counter',
  failed_heartbeats: 'counter',
  dropped_heartbeats: 'counter',
  waiting_heartbeats: 'gauge',
  sequence_number: 'gauge',
  boot_epoch: 'gauge',
  uptime_seconds: 'gauge',
} as const

export function renderPrometheus(status: Status): string {
  const lines = Object.entries(METRICS).flatMap(([name, kind]) => [
    `# TYPE muster_agent_${name} ${kind}`,
    `muster_agent_${name} ${status[name as keyof typeof METRICS]}`,
  ])
  const lastFailed = status.last_error ? 1 : 0
  const acceptedAt = status.last_accepted_at ? Date.parse(status.last_accepted_at) / 1000 : null
  return [
    ...lines,
    '# TYPE muster_agent_last_heartbeat_failed gauge',
    `muster_agent_last_heartbeat_failed ${lastFailed}`,
    ...(acceptedAt
      ? [
          '# TYPE muster_agent_last_accepted_timestamp_seconds gauge',
          `muster_agent_last_accepted_timestamp_seconds ${acceptedAt}`,
        ]
      : []),
    '',
  ].join('\n')
}

/**
 * Serves the status to local clients: `GET /metrics` for Prometheus, `GET /` as JSON. Read-only: everything after the request line is
 * ignored. HTTP is implemented here because the runtime's server costs several megabytes.
 */
export function serveStatus(
  status: () => Status,
  address: { path: string } | { host: string; port: number },
): Promise<net.Server> {
  const server = net.createServer((socket) => {
    socket.setTimeout(5000, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    let received = ''
    socket.on('data', (data: Buffer) => {
      received += data.toString('latin1')
      const line = /^([A-Z]+) (\S+) HTTP\/1\.[01]\r?\n/.exec(received)
      if (!line && received.length < 1024) return
      socket.removeAllListeners('data').resume()
      socket.end(handleRequest(line?.[1], line?.[2], status))
    })
  })
  server.maxConnections = 16
  if ('path' in address) {
    fs.mkdirSync(path.dirname(address.path), { recursive: true })
    // A killed agent leaves its socket behind.
    fs.rmSync(address.path, { force: true })
  }
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, () => {
      if ('path' in address) fs.chmodSync(address.path, 0o666)
      server.on('error', () => {})
      resolve(server)
    })
  })
}

function handleRequest(method: string | undefined, target: string | undefined, status: () => Status): string {
  const respond = (code: string, type: string, body: string) =>
    `HTTP/1.1 ${code}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  if (method !== 'GET') return respond('405 Method Not Allowed', 'text/plain', 'Only GET is allowed\n')
  if (target === '/metrics') return respond('200 OK', 'text/plain; version=0.0.4', renderPrometheus(status()))
  if (target === '/') return respond('200 OK', 'application/json', `${JSON.stringify(status())}\n`)
  return respond('404 Not Found', 'text/plain', 'Not found. Available: / and /metrics\n')
}

/** Fetches the status of the running agent; null when no agent listens on the socket. */
export function fetchStatus(file: string): Promise<Status | null> {
  return new Promise((resolve) => {
    let response = ''
    const socket = net.connect({ path: file }, () => socket.write('GET / HTTP/1.0\r\n\r\n'))
    const finish = () => {
      socket.destroy()
      try {
        resolve(JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4)))
      } catch {
        resolve(null)
      }
    }
    socket.setTimeout(5000, finish)
    socket.on('data', (data) => {
      response += data
    })
    socket.on('error', finish).on('end', finish)
  })
}
