import { timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import ssh2, { type AuthContext, type Connection, type ServerChannel } from 'ssh2'
import { fingerprint, newKeyLogin, newKeyPair, newPassword } from './keys.ts'
import type { KeyLogin, PasswordLogin } from './types.ts'

export interface FarmHost {
  name: string
  host: string
  port: number
  hostKeyFingerprint: string
  hostPublicKey: string
}

export interface FarmCall {
  host: FarmHost
  command: string
  /** The client's stdin; empty unless the farm has `readsInput`. */
  input: string
}

export interface FarmAnswer {
  stdout: string
  stderr?: string
  code?: number
}

export interface FarmOptions {
  hosts: number
  /** Output of every command, or a function that returns it. Default: the host's name. */
  answer?: string | ((call: FarmCall) => FarmAnswer | Promise<FarmAnswer>)
  /** Reads the client's stdin to its end before answering. */
  readsInput?: boolean
}

export interface Farm extends AsyncDisposable {
  hosts: FarmHost[]
  sshKey: KeyLogin
  sshPassword: PasswordLogin
  /** Number of commands answered. */
  readonly answered: number
  down(): Promise<void>
}

/**
 * Starts hundreds of SSH servers inside this process, each with its own address and host key. They answer every command with the
 * configured output and support no shell, SFTP or forwarding.
 */
export async function startSshFarm({ hosts: count, answer, readsInput = false }: FarmOptions): Promise<Farm> {
  const sshKey = newKeyLogin('ops')
  const sshPassword = { username: 'ops', password: newPassword() }
  const reply: (call: FarmCall) => FarmAnswer | Promise<FarmAnswer> =
    typeof answer === 'function' ? answer : ({ host }) => ({ stdout: answer ?? `${host.name}\n` })
  const connections = new Set<Connection>()
  const servers: ssh2.Server[] = []
  const hosts: FarmHost[] = []
  let answered = 0
  const serve = async (index: number, port: number) => {
    const key = newKeyPair(`farm-${index}`)
    const address = addressOf(index)
    const host = { name: `farm-${String(index + 1).padStart(3, '0')}`, host: address, port, ...describeHostKey(key.public) }
    const server = new ssh2.Server({
      hostKeys: [key.private],
      algorithms: { kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org'] },
    })
    server.on('connection', (connection: Connection) => {
      connections.add(connection)
      connection.on('close', () => connections.delete(connection))
      connection.on('error', () => connection.end())
      connection.on('authentication', (attempt) =>
        isAuthorized(attempt, sshKey, sshPassword) ? attempt.accept() : attempt.reject(['publickey', 'password']),
      )
      connection.on('session', (accept) =>
        accept().on('exec', async (acceptExec, _reject, { command }) => {
          const channel = acceptExec()
          const input = readsInput ? await readAll(channel) : ''
          const { stdout, stderr = '', code = 0 } = await reply({ host, command, input })
          answered++
          if (stderr) channel.stderr.write(stderr)
          // The exit status must be sent before the channel closes.
          channel.write(stdout, () => {
            channel.exit(code)
            channel.end()
          })
        }),
      )
    })
    host.port = await listen(server, address, port)
    servers.push(server)
    hosts[index] = host
    return host.port
  }
  const down = async () => {
    for (const connection of connections) connection.end()
    await Promise.all(servers.splice(0).map((server) => new Promise<void>((resolve) => server.close(() => resolve()))))
  }
  try {
    // The first host picks a free port, which is usually free on the other addresses too.
    const port = await serve(0, 0)
    await Promise.all(Array.from({ length: count - 1 }, (_, index) => serve(index + 1, port).catch(() => serve(index + 1, 0))))
  } catch (error) {
    await down()
    throw error
  }
  return {
    hosts,
    sshKey,
    sshPassword,
    get answered() {
      return answered
    },
    down,
    [Symbol.asyncDispose]: down,
  }
}

/** Linux accepts all of 127/8; on other systems hosts differ only by port. */
function addressOf(index: number): string {
  return process.platform === 'linux' ? `127.1.${index >> 7}.${1 + (index & 127)}` : '127.0.0.1'
}

function describeHostKey(line: string) {
  return { hostKeyFingerprint: fingerprint(line), hostPublicKey: line.split(' ', 2).join(' ') }
}

function isAuthorized(attempt: AuthContext, key: KeyLogin, login: PasswordLogin): boolean {
  if (attempt.method === 'password') return attempt.username === login.username && isEqual(attempt.password, login.password)
  if (attempt.method !== 'publickey' || attempt.username !== key.username) return false
  const [line] = key.publicKey.split('\n')
  const parsed = ssh2.utils.parseKey(line!)
  if (parsed instanceof Error || !isEqual(attempt.key.data, parsed.getPublicSSH())) return false
  // Without a signature the client only asks whether this key is acceptable.
  return !attempt.signature || parsed.verify(attempt.blob!, attempt.signature, attempt.hashAlgo) === true
}

function isEqual(left: string | Buffer, right: string | Buffer): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function readAll(channel: ServerChannel): Promise<string> {
  let text = ''
  for await (const chunk of channel) text += chunk
  return text
}

function listen(server: ssh2.Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, address, () => resolve((server.address() as AddressInfo).port))
  })
}
