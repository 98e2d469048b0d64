import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makePrivateKey } from '@muster/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loginKey } from '../../ssh/login-key.ts'
import type { Machine, RunPlan } from '../inventory/plan-run.ts'
import { socketPaths } from '../run-directory/run-paths.ts'
import { serveRunSecrets } from './run-secrets.ts'

const sshAdd = (dir: string, ...args: string[]) =>
  promisify(execFile)('ssh-add', args, { env: { ...process.env, SSH_AUTH_SOCK: socketPaths(dir).agent } })
const pem = (type: 'rsa' | 'ec', options: object) =>
  generateKeyPairSync(type as 'rsa', options as { modulusLength: number }).privateKey.export({
    type: type === 'ec' ? 'sec1' : 'pkcs1',
    format: 'pem',
  } as never) as string

// Decrypting a key takes a second of CPU, and longer on a busy machine.

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-agent-'))
})
afterEach(() => rm(dir, { recursive: true }))

const machine = (alias: string, login: Partial<Machine['login']>): Machine => ({
  alias,
  host: 'h',
  port: 22,
  hostKey: '',
  via: null,
  login: { username: 'ops', ...login },
})
const planOf = (...machines: Machine[]): RunPlan => ({
  bastions: [],
  rejected: [],
  secretVars: {},
  hostSecrets: new Map(),
  targets: machines.map((m) => ({
    name: m.alias,
    nodeId: m.alias,
    groups: [],
    vars: [],
    machine: m,
    become: { method: 'sudo', user: 'root', password: `become of ${m.alias}` },
    python: null,
    facts: {},
  })),
})

test.each([
  ['ed25519', () => makePrivateKey(), undefined],
  ['ed25519 with a passphrase', () => makePrivateKey('open sesame'), 'open sesame'],
  ['rsa', () => pem('rsa', { modulusLength: 2048 }), undefined],
  ['ecdsa 256', () => pem('ec', { namedCurve: 'P-256' }), undefined],
  ['ecdsa 384', () => pem('ec', { namedCurve: 'P-384' }), undefined],
  ['ecdsa 521', () => pem('ec', { namedCurve: 'P-521' }), undefined],
])('OpenSSH accepts what the agent signs with %s', async (_, make, passphrase) => {
  const secrets = await serveRunSecrets(dir, planOf(machine('n0', { privateKey: make(), ...(passphrase ? { passphrase } : {}) })))
  try {
    const { stdout } = await sshAdd(dir, '-L')
    const file = join(dir, 'key.pub')
    await writeFile(file, stdout)
    // Numbers of an ECDSA signature sometimes have a leading zero; repeated attempts cover that.
    for (let i = 0; i < 8; i++) await sshAdd(dir, '-T', file)
  } finally {
    secrets.close()
  }
})

test('rejects added and removed keys and survives malformed requests', async () => {
  const secrets = await serveRunSecrets(dir, planOf(machine('n0', { privateKey: makePrivateKey() })))
  try {
    await expect(sshAdd(dir, '-D')).rejects.toThrow()
    for (const bytes of [Buffer.from([0, 0, 0, 1, 13]), Buffer.from([0xff, 0xff, 0xff, 0xff, 1]), Buffer.from([0, 0, 0, 0])]) {
      const socket = connect(socketPaths(dir).agent)
      socket.on('error', () => {})
      socket.end(bytes)
      await new Promise((resolve) => socket.resume().on('close', resolve))
    }
    expect((await sshAdd(dir, '-l')).stdout).toContain('ED25519')
  } finally {
    secrets.close()
  }
})

test('reports failure for a key that cannot sign, and continues', async () => {
  // Too short for the longest hash.
  const privateKey = pem('rsa', { modulusLength: 512 })
  const secrets = await serveRunSecrets(dir, planOf(machine('n0', { privateKey })))
  try {
    const socket = connect(socketPaths(dir).agent)
    const answers: Buffer[] = []
    socket.on('data', (chunk) => answers.push(chunk))
    const string = (bytes: Buffer) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return Buffer.concat([length, bytes])
    }
    const blob = loginKey(privateKey).getPublicSSH()
    socket.write(string(Buffer.concat([Buffer.from([13]), string(blob), string(Buffer.from('data')), Buffer.from([0, 0, 0, 4])])))
    await expect.poll(() => Buffer.concat(answers)).toEqual(Buffer.from([0, 0, 0, 1, 5]))
    socket.write(string(Buffer.from([11])))
    await expect.poll(() => Buffer.concat(answers).subarray(5).includes(blob)).toBe(true)
    socket.destroy()
  } finally {
    secrets.close()
  }
})

test('answers only prompts that contain the alias of the machine', async () => {
  const secrets = await serveRunSecrets(
    dir,
    planOf(machine('n0-aaaa', { password: 'one' }), machine('n1-bbbb', { password: 'two' }), machine('n2-cccc', {})),
  )
  const ask = (question: string) =>
    new Promise<string>((resolve) => {
      let answer = ''
      const socket = connect(socketPaths(dir).secrets, () => socket.write(`${question}\n`))
      socket.on('data', (chunk) => (answer += chunk)).on('close', () => resolve(answer))
    })
  try {
    expect(await ask("ssh ops@n0-aaaa's password: ")).toBe('ok one')
    expect(await ask('ssh (ops@n1-bbbb) Password for ops: ')).toBe('ok two')
    expect(await ask("ssh j.doe@corp.example@n0-aaaa's password: ")).toBe('ok one')
    expect(await ask('ssh (j.doe@corp.example@n1-bbbb) Password: ')).toBe('ok two')
    expect(await ask('become n1-bbbb')).toBe('ok become of n1-bbbb')
    // A server controls the text after the parentheses, never the text in them.
    expect(await ask("ssh (ops@n0-aaaa) ops@n1-bbbb's password: ")).toBe('ok one')
    for (const question of [
      "ssh ops@n2-cccc's password: ",
      "ssh ops@n1's password: ",
      'ssh Password:',
      'ssh ',
      'become n9',
      'n0-aaaa',
      '',
    ])
      expect(await ask(question)).toBe('no')
  } finally {
    secrets.close()
  }
})
