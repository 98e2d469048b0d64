import { createServer, type Server, type Socket } from 'node:net'
import type { ParsedKey } from 'ssh2'
import { serveSshAgent } from './ssh-agent.ts'

const MAX_QUESTION = 8 * 1024

/**
 * Serves an SSH agent that signs with `keys`, if there are any, and a socket that answers the questions of askpass.py.
 * @param answer returns null for an unknown secret
 */
export async function serveSecrets(
  sockets: { agent: string; secrets: string },
  keys: ParsedKey[],
  answer: (question: string) => string | null,
): Promise<{ close(): void }> {
  const connections = new Set<Socket>()
  const servers = await Promise.all([
    ...(keys.length > 0 ? [listen(sockets.agent, connections, (socket) => serveSshAgent(socket, keys))] : []),
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
      // Clients may disconnect at any time.
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
