import { createServer, type Server, type Socket } from 'node:net'
import type { ParsedKey } from 'ssh2'
import { serveAgent } from './serve-agent.ts'

const MAX_QUESTION = 8 * 1024

/**
 * An ssh-agent that signs with `keys`, when there are any, and a socket that answers questions (askpass.py): nothing of them is on
 * disk, in an argument or an environment.
 * @param answer null: that is not to be had
 */
export async function serveSecrets(
  sockets: { agent: string; secrets: string },
  keys: ParsedKey[],
  answer: (question: string) => string | null,
): Promise<{ close(): void }> {
  const connections = new Set<Socket>()
  const servers = await Promise.all([
    ...(keys.length > 0 ? [listen(sockets.agent, connections, (socket) => serveAgent(socket, keys))] : []),
    listen(sockets.secrets, connections, (socket) => serveQuestions(socket, answer)),
  ])
  return {
    close() {
      for (const server of servers) server.close()
      for (const socket of connections) socket.destroy()
    },
  }
}

function listen(path: string, connections: Set<Socket>, serve: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      connections.add(socket)
      socket.on('close', () => connections.delete(socket))
      // A client that goes away in the middle is of no interest.
      socket.on('error', () => socket.destroy())
      serve(socket)
    })
    server.on('error', reject)
    server.listen(path, () => resolve(server))
  })
}

function serveQuestions(socket: Socket, reply: (question: string) => string | null): void {
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    const end = text.indexOf('\n')
    if (end === -1 && text.length < MAX_QUESTION) return
    const secret = end === -1 ? null : reply(text.slice(0, end))
    socket.removeAllListeners('data')
    socket.end(secret === null ? 'no' : `ok ${secret}`)
  })
}
