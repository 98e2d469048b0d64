import { createServer, type Server as TcpServer } from 'node:net'
import type { PreflightStage } from '@muster/core/connections'
import { makeKeyPair } from '@muster/core/testing'
import type { OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHop, nodeAccessFor, pinnedKey } from '../testing/node-access.ts'
import { createBastionPool } from './bastion-pool.ts'
import { connectNode } from './connect.ts'
import { SshFailure } from './ssh-failure.ts'

const TIMEOUT_MS = 2000
let lab: OwnedLab
const bastions = createBastionPool()
const servers: { close(): void }[] = []

beforeAll(async () => {
  lab = await createLab({
    nodes: [
      { name: 'open', profile: 'cpu' },
      { name: 'other', profile: 'cpu' },
      { name: 'behind', profile: 'cpu', behindBastion: true },
    ],
  })
})
afterAll(() => {
  bastions.close()
  for (const server of servers) server.close()
})

/** Stages of a connection, and its failure or null. */
async function attempt(access: Parameters<typeof connectNode>[0], options: { showHostKey?: boolean; timeoutMs?: number } = {}) {
  const stages: PreflightStage[] = []
  try {
    const session = await connectNode(access, { timeoutMs: TIMEOUT_MS, bastions, onStage: (s) => stages.push(s), ...options })
    const { stdout } = await session.exec('echo here', { timeoutMs: TIMEOUT_MS })
    session.close()
    return { stages, failure: null, output: stdout.toString().trim() }
  } catch (error) {
    if (!(error instanceof SshFailure)) throw error
    return { stages, failure: error, output: null }
  }
}

/** Starts a server on a free loopback port and returns the port. */
async function listen(onConnection: Parameters<typeof createServer>[1]): Promise<number> {
  const server: TcpServer = createServer({}, onConnection)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

describe('a connection', () => {
  it('passes every stage, by key and by password', async () => {
    const { sshKey, sshPassword } = lab.credentials
    const byKey = await attempt(nodeAccessFor(lab.node('open'), sshKey))
    expect(byKey.output).toBe('here')
    expect(byKey.stages.map((s) => `${s.stage} ${s.state}`)).toEqual([
      'RESOLVE OK',
      'TCP OK',
      'BANNER OK',
      'HOST_KEY OK',
      'AUTHENTICATION OK',
    ])
    expect(byKey.stages[3]!.detail).toBe(`ssh-ed25519 ${lab.node('open').hostKeyFingerprint}`)
    expect((await attempt(nodeAccessFor(lab.node('open'), sshPassword!))).output).toBe('here')
  })

  it('accepts a key with a passphrase', async () => {
    const { username, encryptedPrivateKey, passphrase } = lab.credentials.sshKey
    expect(
      (await attempt(nodeAccessFor(lab.node('open'), { username, privateKey: encryptedPrivateKey, passphrase }))).output,
    ).toBe('here')
  })

  it('connects through a bastion that several nodes share', async () => {
    const hops = [createHop(lab.bastion!, lab.credentials.bastionKey!)]
    const access = nodeAccessFor(lab.node('behind'), lab.credentials.sshKey, { hops })
    const tries = await Promise.all([attempt(access), attempt(access), attempt(access)])
    for (const { output, stages } of tries) {
      expect(output).toBe('here')
      expect(stages.filter((s) => s.hop === 'edge').map((s) => s.stage)).toEqual([
        'RESOLVE',
        'TCP',
        'BANNER',
        'HOST_KEY',
        'AUTHENTICATION',
      ])
      expect(stages.find((s) => s.hop === null && s.stage === 'RESOLVE')).toMatchObject({ state: 'SKIPPED' })
    }
    // All share one connection to the bastion, so their bastion stages are equal.
    const [first, second] = tries
    expect(second!.stages.slice(0, 5)).toEqual(first!.stages.slice(0, 5))
  })

  it('connects through several bastions, each with its own stages', async () => {
    const hops = ['outer', 'inner'].map((name) => createHop(lab.bastion!, lab.credentials.bastionPassword!, { name }))
    const { output, stages } = await attempt(nodeAccessFor(lab.node('behind'), lab.credentials.sshKey, { hops }))
    expect(output).toBe('here')
    expect(stages.filter((s) => s.stage === 'AUTHENTICATION').map((s) => s.hop)).toEqual(['outer', 'inner', null])
  })

  it.each(['::1', '::1%lo'])('answers keyboard-interactive on IPv6 %s and requests the pinned key type', async (host) => {
    const keys = [makeKeyPair(), makeKeyPair('ecdsa')]
    const server = new ssh2.Server({ hostKeys: keys.map((key) => key.private) }, (client) => {
      client.on('error', () => {})
      client.on('authentication', (auth) => {
        if (auth.method !== 'keyboard-interactive') return auth.reject(['keyboard-interactive'])
        auth.prompt([{ prompt: 'Password: ', echo: false }], (answers) =>
          answers[0] === 'sesame' ? auth.accept() : auth.reject(),
        )
      })
      client.on('ready', () =>
        client.on('session', (accept) =>
          accept().on('exec', (acceptExec) => {
            const channel = acceptExec()
            channel.write('here\n')
            channel.exit(0)
            channel.end()
          }),
        ),
      )
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve))
    const { port } = server.address() as { port: number }
    const hostKey = keys[1]!.public.split(' ').slice(0, 2).join(' ')
    const login = { username: 'ops', password: 'sesame' }
    const { output, stages } = await attempt(nodeAccessFor(lab.node('open'), login, { host, port, hostKey }))
    expect(output).toBe('here')
    expect(stages.at(-1)!.detail).toBe('ops by keyboard-interactive')
  })
})

describe('failures', () => {
  it.each<[name: string, overrides: () => Promise<object> | object, stage: string, message: RegExp]>([
    ['a name that does not resolve', () => ({ host: 'nowhere.invalid' }), 'RESOLVE', /The name nowhere\.invalid does not exist/],
    ['a closed port', () => ({ port: 9 }), 'TCP', /:9 refuses connections/],
    ['a silent port', async () => ({ host: '127.0.0.1', port: await listen(() => {}) }), 'BANNER', /sent nothing for 2 s/],
    [
      'another protocol',
      async () => ({ host: '127.0.0.1', port: await listen((s) => s.on('error', () => {}).write('220 mail ESMTP\r\n')) }),
      'BANNER',
      /not an SSH server: it sent "220 mail ESMTP"/,
    ],
    [
      'an HTTP server',
      async () => ({
        host: '127.0.0.1',
        port: await listen((s) => s.on('error', () => {}).once('data', () => s.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
      }),
      'BANNER',
      /not an SSH server: it sent "HTTP\/1\.1 400 Bad Request"/,
    ],
    [
      'a port that closes connections',
      async () => ({ host: '127.0.0.1', port: await listen((s) => s.destroy()) }),
      'BANNER',
      /(closed it without a greeting|dropped the connection)/,
    ],
    [
      'SSH 1',
      async () => ({ host: '127.0.0.1', port: await listen((s) => s.write('SSH-1.5-old\r\n')) }),
      'BANNER',
      /speaks SSH 1\.5/,
    ],
    ['a host key that is not approved', () => ({ hostKey: null }), 'HOST_KEY', /has not been approved/],
    ['another host key', () => ({ hostKey: pinnedKey(lab.node('other')) }), 'HOST_KEY', /host key has changed: SHA256:/],
  ])('%s', async (_name, overrides, stage, message) => {
    const { failure, stages } = await attempt(nodeAccessFor(lab.node('open'), lab.credentials.sshKey, await overrides()), {
      showHostKey: true,
    })
    expect(failure).toMatchObject({ stage, hop: null, message: expect.stringMatching(message) })
    expect(stages.at(-1)).toMatchObject({ stage, state: 'FAILED' })
    expect(stages.slice(0, -1).every((s) => s.state === 'OK')).toBe(true)
  })

  it('reports an unapproved key to the preflight only, and does not sign in', async () => {
    const access = nodeAccessFor(lab.node('open'), lab.credentials.sshKey, { hostKey: null })
    const shown = await attempt(access, { showHostKey: true })
    expect(shown.failure!.offered).toEqual({
      objectType: 'ComputeNode',
      objectId: access.node.id,
      key: pinnedKey(lab.node('open')),
      fingerprint: lab.node('open').hostKeyFingerprint,
      changed: false,
    })
    const rejected = await attempt(access)
    expect(rejected.failure).toMatchObject({ stage: 'HOST_KEY', offered: null })
    expect(rejected.stages).toEqual([])
  })

  it('never sends the password to a machine with another key', async () => {
    const seen: string[] = []
    const key = makeKeyPair()
    const server = new ssh2.Server({ hostKeys: [key.private] }, (client) => {
      client.on('error', () => {})
      client.on('authentication', (auth) => {
        seen.push(auth.method)
        auth.reject()
      })
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const at = { host: '127.0.0.1', port }
    const login = { username: 'ops', password: 'secret' }
    for (const hostKey of [null, pinnedKey(lab.node('open'))])
      expect(
        (await attempt(nodeAccessFor(lab.node('open'), login, { ...at, hostKey }), { showHostKey: true })).failure!.stage,
      ).toBe('HOST_KEY')
    expect(seen).toEqual([])
  })

  it('reports a wrong password, key and passphrase', async () => {
    const node = lab.node('open')
    const password = await attempt(nodeAccessFor(node, { username: 'ops', password: 'wrong' }))
    expect(password.failure).toMatchObject({
      stage: 'AUTHENTICATION',
      message: expect.stringContaining('rejects this password of ops'),
    })
    const stranger = makeKeyPair()
    const key = await attempt(nodeAccessFor(node, { username: 'ops', privateKey: stranger.private }))
    expect(key.failure).toMatchObject({ stage: 'AUTHENTICATION', message: expect.stringContaining('allows publickey') })
    expect(key.failure!.hint).toContain(stranger.public.split(' ')[1])
    const { encryptedPrivateKey } = lab.credentials.sshKey
    const locked = await attempt(nodeAccessFor(node, { username: 'ops', privateKey: encryptedPrivateKey, passphrase: 'wrong' }))
    expect(locked.failure).toMatchObject({
      stage: 'AUTHENTICATION',
      message: expect.stringContaining('private key cannot be used'),
    })
  })

  it('names the hop that failed', async () => {
    const bastion = lab.bastion!
    const { bastionKey, bastionPassword, sshKey } = lab.credentials
    const through = (hop: Parameters<typeof createHop>[2], login = bastionKey!) =>
      attempt(nodeAccessFor(lab.node('behind'), sshKey, { hops: [createHop(bastion, login, hop)] }), { showHostKey: true })
    const wrong = await attempt(
      nodeAccessFor(lab.node('behind'), sshKey, { hops: [createHop(bastion, { ...bastionPassword!, password: 'wrong' })] }),
    )
    expect(wrong.failure).toMatchObject({ stage: 'AUTHENTICATION', hop: 'edge' })
    expect(wrong.failure!.summary).toMatch(/^Bastion edge: The server rejects/)
    expect((await through({ port: 9 })).failure).toMatchObject({ stage: 'TCP', hop: 'edge' })
    expect((await through({ hostKey: null })).failure).toMatchObject({
      stage: 'HOST_KEY',
      hop: 'edge',
      offered: { objectType: 'Credential', key: pinnedKey(bastion) },
    })
    const hops = [createHop(bastion, bastionKey!)]
    const closed = await attempt(nodeAccessFor(lab.node('behind'), sshKey, { hops, port: 9 }))
    expect(closed.failure).toMatchObject({
      stage: 'TCP',
      hop: null,
      message: expect.stringContaining('Bastion edge cannot reach'),
    })
    const unknown = await attempt(nodeAccessFor(lab.node('behind'), sshKey, { hops, host: 'nowhere.invalid' }))
    expect(unknown.failure).toMatchObject({ stage: 'TCP', hop: null, message: expect.stringContaining('nowhere.invalid') })
  })

  it('stops on abort', async () => {
    const port = await listen(() => {})
    const stop = new AbortController()
    const access = nodeAccessFor(lab.node('open'), lab.credentials.sshKey, { host: '127.0.0.1', port })
    const going = connectNode(access, {
      timeoutMs: 60_000,
      bastions,
      signal: stop.signal,
      onStage: ({ stage }) => stage === 'TCP' && stop.abort(new Error('enough')),
    })
    await expect(going).rejects.toThrow('enough')
  })
})

describe('a command', () => {
  const session = () => connectNode(nodeAccessFor(lab.node('open'), lab.credentials.sshKey), { timeoutMs: TIMEOUT_MS, bastions })

  it('gets its input and reports its exit', async () => {
    const s = await session()
    const { stdout, stderr, code } = await s.exec('tr a-z A-Z; echo aside >&2; exit 3', { stdin: 'hello', timeoutMs: TIMEOUT_MS })
    expect({ out: stdout.toString(), err: stderr.toString(), code }).toEqual({ out: 'HELLO', err: 'aside\n', code: 3 })
    expect(await s.exec('kill -TERM $$', { timeoutMs: TIMEOUT_MS })).toMatchObject({ code: null, signal: 'SIGTERM' })
    s.close()
  })

  it('returns ten megabytes', async () => {
    const s = await session()
    const { stdout, truncated } = await s.exec('head -c 10485760 /dev/zero', { timeoutMs: 20_000, maxBytes: 16 * 1024 * 1024 })
    expect([stdout.length, truncated]).toEqual([10 * 1024 * 1024, false])
    s.close()
  })

  it('is truncated when its output is endless', async () => {
    const s = await session()
    const endless = await s.exec('exec yes endless-output', { timeoutMs: 20_000, maxBytes: 100_000 })
    expect(endless).toMatchObject({ truncated: true, timedOut: false, code: null })
    expect(endless.stdout.length).toBe(100_000)
    s.close()
  })

  it('is killed on the node after its timeout', async () => {
    const s = await session()
    const slow = await s.exec('echo begun; exec sleep 4242', { timeoutMs: 300 })
    expect(slow).toMatchObject({ timedOut: true, code: null })
    expect(slow.stdout.toString()).toBe('begun\n')
    const processes = async () => (await s.exec('ps -eo args', { timeoutMs: TIMEOUT_MS })).stdout.toString()
    expect(await processes()).toContain('ps -eo args')
    await expect.poll(processes).not.toContain('sleep 4242')
    s.close()
  })

  it('fails when the connection is lost', async () => {
    const s = await session()
    const going = s.exec('echo begun; exec sleep 1000', { timeoutMs: 60_000, onStdout: () => s.close() })
    await expect(going).rejects.toThrow('connection was lost')
  })
})
