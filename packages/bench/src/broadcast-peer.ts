import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'

const SCRIPT = fileURLToPath(new URL('load/broadcast.ts', import.meta.url))

/**
 * Sends `messages` messages of `bytes` bytes to each of `clients` clients in this process, from a bare ws server in a process of its own.
 * @returns received bytes per second, and the CPU of the server per MB
 * @throws Error when a client did not receive everything
 */
export async function broadcast({ clients, messages, bytes }: { clients: number; messages: number; bytes: number }) {
  const server = spawn(process.execPath, [SCRIPT, ...[clients, messages, bytes].map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
    const next = async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error('The broadcasting server ended early')
      return JSON.parse(value) as { port: number; cpuSeconds: number }
    }
    const { port } = await next()
    let received = 0
    const ended = await Promise.all(
      Array.from({ length: clients }, async () => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
        socket.on('message', (data) => {
          received += (data as Buffer).length
        })
        const closed = once(socket, 'close')
        await once(socket, 'open')
        return { closed }
      }),
    )
    await next()
    const began = performance.now()
    server.stdin.write('go\n')
    await Promise.all(ended.map(({ closed }) => closed))
    const seconds = (performance.now() - began) / 1000
    if (received !== clients * messages * bytes)
      throw new Error(`The clients received ${received} of ${clients * messages * bytes} bytes`)
    const { cpuSeconds } = await next()
    return { bytesPerSecond: received / seconds, cpuPerMb: cpuSeconds / (received / 1e6) }
  } finally {
    server.kill()
  }
}
