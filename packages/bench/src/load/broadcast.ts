// A process of its own: `node broadcast.ts CLIENTS MESSAGES BYTES` sends messages to all clients over WebSockets, without a database,
// GraphQL or authorization: the limit of this machine for a log fan-out. Prints its port as JSON, waits until all clients are connected and
// a line arrives on stdin, and prints its CPU seconds once everything is sent.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

const [clients, messages, bytes] = process.argv.slice(2).map(Number) as [number, number, number]
const message = 'x'.repeat(bytes)
/** Bytes that may wait in the socket of one client; without a bound everything would be buffered in memory. */
const MAX_BUFFERED = 1 << 20

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
await once(server, 'listening')
process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
while (server.clients.size < clients) await once(server, 'connection')
process.stdout.write('{"ready":true}\n')
await once(process.stdin, 'data')
const before = process.cpuUsage()
await Promise.all([...server.clients].map(sendAll))
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${JSON.stringify({ cpuSeconds: (user + system) / 1e6 })}\n`)
process.stdin.destroy()
server.close()

async function sendAll(socket: WebSocket): Promise<void> {
  for (let i = 0; i < messages; i++) {
    const sent = new Promise<void>((resolve, reject) => socket.send(message, (error) => (error ? reject(error) : resolve())))
    if (socket.bufferedAmount > MAX_BUFFERED || i === messages - 1) await sent
    else sent.catch(() => {})
  }
  socket.close()
}
