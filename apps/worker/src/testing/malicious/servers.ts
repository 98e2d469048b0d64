import { type AddressInfo, createServer, type Socket } from 'node:net'
import { makeKeyPair } from '@muster/core/testing'
import ssh2, { type ServerChannel } from 'ssh2'

/** Writes as fast as the peer reads. */
function flood(stream: Socket | ServerChannel, chunk: Buffer | string): void {
  const write = () => {
    while (!stream.destroyed && stream.writable) if (!stream.write(chunk)) return void stream.once('drain', write)
  }
  stream.on('error', () => {})
  write()
}

/** What a server does before the sign-in, which a real sshd never does. */
const GREETINGS: Record<string, (socket: Socket) => void> = {
  /** Sends text without a line end, and never a version. */
  'endless greeting': (socket) => flood(socket, 'x'.repeat(1000)),
  /** Sends a line of another protocol now and then. */
  'dripping greeting': (socket) => {
    const timer = setInterval(() => socket.write('hello\r\n'), 100)
    socket.on('error', () => {}).on('close', () => clearInterval(timer))
  },
  /** Sends its version and then nothing. */
  'unfinished handshake': (socket) => void socket.on('error', () => {}).write('SSH-2.0-evil\r\n'),
  /** Sends its version and then bytes that are no packet. */
  'endless handshake': (socket) => {
    socket.write('SSH-2.0-evil\r\n')
    flood(socket, Buffer.alloc(16 * 1024))
  },
}

type Session = (channel: ServerChannel) => void
const ACCOUNTS: Record<string, { authentication?: (auth: ssh2.AuthContext) => void; session?: Session | null }> = {
  /** Asks for another answer after each one. */
  'endless prompts': {
    authentication(auth) {
      const ask = () =>
        void (auth as ssh2.KeyboardAuthContext).prompt([{ prompt: `\u001b[2J${'?'.repeat(8000)}`, echo: true }], ask)
      if (auth.method === 'keyboard-interactive') ask()
      else auth.reject(['keyboard-interactive'])
    },
  },
  /** Never answers the sign-in. */
  'silent sign-in': { authentication: () => {} },
  /** Never answers the request for a session. */
  'no session': { session: null },
  /** Sends every byte in a packet of its own. */
  'single bytes': {
    session: (channel) => {
      const write = () => {
        for (let i = 0; i < 1000; i++) if (!channel.writable || channel.destroyed || !channel.write('\n')) break
        if (!channel.destroyed && channel.writable) setImmediate(write)
      }
      channel.on('error', () => {})
      write()
    },
  },
}

export const MALICIOUS_SERVERS = [...Object.keys(GREETINGS), ...Object.keys(ACCOUNTS)]

/** Starts one server of each kind. @returns their ports and common host key */
export async function startMaliciousServers() {
  const key = makeKeyPair()
  const sockets = new Set<Socket>()
  const ports = new Map<string, number>()
  const closes: (() => void)[] = []
  for (const name of MALICIOUS_SERVERS) {
    const account = ACCOUNTS[name]
    const ssh = new ssh2.Server({ hostKeys: [key.private] }, (client) => {
      client.on('error', () => {})
      client.on('authentication', account?.authentication ?? ((auth) => auth.accept()))
      client.on('session', (accept) => {
        if (!account?.session) return
        accept().on('exec', (acceptExec) => account.session!(acceptExec()))
      })
    })
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      if (account) ssh.injectSocket(socket)
      else GREETINGS[name]!(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ports.set(name, (server.address() as AddressInfo).port)
    closes.push(() => server.close())
  }
  return {
    hostKey: key.public.split(' ').slice(0, 2).join(' '),
    port: (name: string) => ports.get(name)!,
    close() {
      for (const close of closes) close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
