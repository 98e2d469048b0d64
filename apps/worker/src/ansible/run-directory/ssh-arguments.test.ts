import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Host, User } from '@muster/core/address'
import type { JobRun } from '@muster/core/runs'
import { FAULT_TIMEOUT, scaleIterations } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { Machine } from '../inventory/plan-run.ts'
import { writeRunFiles } from './run-files.ts'

const VALUES = scaleIterations(1_000_000, 0.01)
/** Number of accepted values that ssh itself reads, which takes a process each. Half of them contain `%`, which it would expand. */
const READ_BY_SSH = scaleIterations(20_000, 0.01)
const SEED = Number(process.env.MUSTER_SEED ?? Math.floor(Math.random() * 2 ** 31))

const PARTS = [
  ...['gpu', 'node', 'a', 'Z', '0', '9', '10.0.0.1', 'fe80::1%', '::1', 'example.org', 'root', 'xn--nxasmq6b', '255', '0x7f'],
  ...['.', '-', '_', ':', '@', '%', '%h', '%%', '%r', '+', '/', '~', '#', '=', ',', '*', '?', '!', '[', ']', '{', '}'],
  ...[' ', '\t', '\n', '\r', '\0', '\u2028', '\u0085', '\\', '"', "'", '`', '$', ';', '|', '&', '<', '>', '(', ')'],
  ...['-o', '-oProxyCommand=', 'ProxyCommand ', '\n  ProxyCommand ', '\nMatch all\n', 'LocalCommand=', '$HOME', '$(', '-F', '--'],
]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-ssh-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Draws hosts and login names: mostly short mixtures of harmless and harmful parts, often with a command that leaves a file. */
function drawValues(seed: number) {
  const roll = seededRandom(seed)
  const text = () => Array.from({ length: 1 + roll(5) }, () => PARTS[roll(roll(2) ? 14 : PARTS.length)]!).join('')
  return () => (roll(10) === 0 ? `${text()}touch ${folder}/canary` : text())
}

const machine = (i: number, host: string, username: string): Machine => ({
  alias: `m${i}`,
  host,
  port: 22,
  login: { username, password: 'not used' },
  hostKey: 'ssh-ed25519 AAAA',
  via: null,
})

/** ssh prints IPv6 addresses in their shortest form. */
function shortest(host: string): string {
  if (!host.includes(':')) return host
  const [address, zone] = host.split('%')
  return new URL(`http://[${address}]`).hostname.slice(1, -1) + (zone ? `%${zone}` : '')
}

test(`passes hosts and login names to ssh unchanged, ${VALUES} values (seed ${SEED})`, { timeout: FAULT_TIMEOUT }, async () => {
  const draw = drawValues(SEED)
  const machines: Machine[] = []
  for (let i = 0; i < VALUES; i++) {
    const [host, user] = [Host.safeParse(draw()), User.safeParse(draw())]
    if (host.success || user.success) machines.push(machine(i, host.data ?? 'gpu1', user.data ?? 'root'))
  }
  expect(machines.length).toBeGreaterThan(VALUES / 10)
  await writeRunFiles(
    { dir: folder, sshDir: folder, playbooks: folder, project: folder, connectTimeoutS: 10 },
    { extraVars: {} } as JobRun,
    { targets: [], bastions: machines, rejected: [], secretVars: {}, hostSecrets: new Map() },
  )
  const blocks = (await readFile(path.join(folder, 'config'), 'utf8')).split(/^Host /m).slice(1)
  const given = blocks.map((block) => [
    block.split('\n')[0],
    /^ {2}HostName (.*)$/m.exec(block)?.[1],
    /^ {2}User (.*)$/m.exec(block)?.[1],
  ])
  expect(given).toEqual([
    ...machines.map(({ alias, host, login }) => [alias, host.replaceAll('%', '%%'), login.username]),
    ['*', undefined, undefined],
  ])
  expect(new Set(blocks.slice(0, -1).map((block) => block.split('\n').length)).size).toBe(1)
  // For a zone that is a number, ssh prints the name of that interface.
  const printed = machines.filter(({ host }) => !/%\d+$/.test(host))
  const [expanded, others] = [true, false].map((isExpanded) => printed.filter(({ host }) => host.includes('%') === isExpanded))
  const read = [expanded!, others!].flatMap((some) => some.slice(0, READ_BY_SSH / 2))
  expect(read.length).toBeGreaterThan(0)
  for (const { alias, host, login } of read) {
    const { stdout } = await promisify(execFile)('ssh', ['-G', '-F', path.join(folder, 'config'), alias])
    const options = new Map(stdout.split('\n').map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]))
    expect({ host: shortest(options.get('hostname')!), user: options.get('user') }).toEqual({
      host: shortest(host),
      user: login.username,
    })
    expect(options.get('proxycommand') ?? 'none').toBe('none')
    expect(options.get('stricthostkeychecking')).toBe('true')
  }
  expect(await readdir(folder)).not.toContain('canary')
})
