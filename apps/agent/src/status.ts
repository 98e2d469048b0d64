import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import type { Agent } from './agent.ts'

export type Status = ReturnType<Agent['status']>

/** Numbers of the status, and what they are to Prometheus. */
const METRICS = {
  total_heartbeats: 'counter',
  failed_heartbeats: 'counter',
  dropped_heartbeats: 'counter',
  waiting_heartbeats: 'gauge',
  sequence_number: 'gauge',
  boot_epoch: 'gauge',
  uptime_seconds: 'gauge',
} as const

export function prometheus(status: Status): string {
  const lines = Object.entries(METRICS).flatMap(([name, kind]) => [
    `# TYPE muster_agent_${name} ${kind}`,
    `muster_agent_${name} ${status[name as keyof typeof METRICS]}`,
  ])
  const failed = status.last_error ? 1 : 0
  const accepted = status.last_accepted_at ? Date.parse(status.last_accepted_at) / 1000 : null
  return [
    ...lines,
    '# TYPE muster_agent_last_heartbeat_failed gauge',
    `muster_agent_last_heartbeat_failed ${failed}`,
    ...(accepted
      ? ['# TYPE muster_agent_last_accepted_timestamp_seconds gauge', `muster_agent_last_accepted_timestamp_seconds ${accepted}`]
      : []),
    '',
  ].join('\n')
}

/**
 * Tells its status to whoever asks on this machine: `GET /metrics` for Prometheus, `GET /` as JSON, and nothing else. Read only, so whatever
 * is sent beyond the first line is passed over. HTTP by hand: a server of the runtime costs several megabytes.
 */
export function serveStatus(status: () => Status, at: { path: string } | { host: string; port: number }): Promise<net.Server> {
  const server = net.createServer((socket) => {
    socket.setTimeout(5000, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    let asked = ''
    socket.on('data', (data: Buffer) => {
      asked += data.toString('latin1')
      const line = /^([A-Z]+) (\S+) HTTP\/1\.[01]\r?\n/.exec(asked)
      if (!line && asked.length < 1024) return
      socket.removeAllListeners('data').resume()
      socket.end(answer(line?.[1], line?.[2], status))
    })
  })
  server.maxConnections = 16
  if ('path' in at) {
    fs.mkdirSync(path.dirname(at.path), { recursive: true })
    // Left by an agent that was killed. Its state folder keeps two agents apart, not this.
    fs.rmSync(at.path, { force: true })
  }
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(at, () => {
      if ('path' in at) fs.chmodSync(at.path, 0o666)
      server.on('error', () => {})
      resolve(server)
    })
  })
}

function answer(method: string | undefined, where: string | undefined, status: () => Status): string {
  const respond = (code: string, type: string, body: string) =>
    `HTTP/1.1 ${code}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  if (method !== 'GET') return respond('405 Method Not Allowed', 'text/plain', 'GET only\n')
  if (where === '/metrics') return respond('200 OK', 'text/plain; version=0.0.4', prometheus(status()))
  if (where === '/') return respond('200 OK', 'application/json', `${JSON.stringify(status())}\n`)
  return respond('404 Not Found', 'text/plain', 'there are / and /metrics\n')
}

/** The status of the running agent, or null when none answers at that socket. */
export function askStatus(file: string): Promise<Status | null> {
  return new Promise((resolve) => {
    let said = ''
    const socket = net.connect({ path: file }, () => socket.write('GET / HTTP/1.0\r\n\r\n'))
    const end = () => {
      socket.destroy()
      try {
        resolve(JSON.parse(said.slice(said.indexOf('\r\n\r\n') + 4)))
      } catch {
        resolve(null)
      }
    }
    socket.setTimeout(5000, end)
    socket.on('data', (data) => {
      said += data
    })
    socket.on('error', end).on('end', end)
  })
}
