import { describe, expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { parseGres, parseTres } from './gres.ts'
import { parseConfig, parseVersion } from './parse-config.ts'
import { parseControllers } from './parse-controllers.ts'
import { parseLicenses } from './parse-licenses.ts'
import { parsePartitions } from './parse-partitions.ts'
import { parseReservations } from './parse-reservations.ts'
import { parseScheduler } from './parse-scheduler.ts'
import { parseDuration, parseMinutes } from './text.ts'

describe.each(VERSIONS)('Slurm %s', (version) => {
  test('reads partitions, also hidden ones and ones that are down', () => {
    const partitions = parsePartitions(fixture(version, 'partitions.txt'))
    expect(partitions.map(({ name, state, isDefault, hidden }) => ({ name, state, isDefault, hidden }))).toEqual([
      { name: 'debug', state: 'UP', isDefault: true, hidden: false },
      { name: 'gpu', state: 'UP', isDefault: false, hidden: false },
      { name: 'cloud', state: 'UP', isDefault: false, hidden: false },
      { name: 'maint', state: 'DOWN', isDefault: false, hidden: true },
    ])
    expect(partitions[1]).toMatchObject({
      nodes: 'gpu[01-03],mig01',
      totalNodes: 4,
      maxTime: 10_080,
      defaultTime: 60,
      priorityJobFactor: 10,
    })
    expect(partitions[0]).toMatchObject({ maxTime: 'UNLIMITED', defaultTime: null, allowGroups: [] })
    expect(partitions[3]!.allowGroups).toEqual(['root'])
  })

  test('reads reservations', () => {
    const [, course] = parseReservations(fixture(version, 'reservations.txt'))
    expect(course).toMatchObject({ name: 'course', nodes: 'cpu02', partition: 'debug', users: ['bob'], accounts: [] })
    expect(course!.comment).toBe(version === '22.05' ? null : 'course | week 3')
    expect(course!.endAt!.getTime() - course!.startAt!.getTime()).toBe(4 * 3600 * 1000)
  })

  test('reads the configuration and the controllers', () => {
    const config = parseConfig(fixture(version, 'config.txt'))
    expect(config).toMatchObject({ clusterName: 'lab', controllers: ['ctl'] })
    expect(config.version).toMatch(version)
    expect(config.settings).toMatchObject({ AuthType: 'auth/munge', SlurmctldPort: '6817' })
    expect(config.settings).not.toHaveProperty('CliFilterPlugins')
    expect(parseControllers(fixture(version, 'ping.txt'))).toEqual([{ role: 'primary', hostname: 'ctl', isUp: true }])
  })

  test('reads scheduler statistics', () => {
    const scheduler = parseScheduler(fixture(version, 'sdiag.txt'))
    expect(scheduler.jobs).toMatchObject({ started: 14, completed: 4, canceled: 1, running: 7 })
    expect(scheduler.main).toMatchObject({ cyclesPerMinute: 4, queueLength: 4 })
    expect(scheduler.main.maxCycle).toBeGreaterThan(scheduler.main.lastCycle)
    expect(scheduler.backfill.lastCycleAt!.getTime()).toBeGreaterThan(scheduler.since!.getTime())
    expect(scheduler.backfill.jobs).toBe(2)
  })
})

test('reads a down primary and its backup', () => {
  const output =
    'Slurmctld(primary) at ctl is DOWN\nSlurmctld(backup) at ctl2 is UP\n****\n** RESTORE SLURMCTLD DAEMON TO SERVICE **\n'
  expect(parseControllers(output)).toEqual([
    { role: 'primary', hostname: 'ctl', isUp: false },
    { role: 'backup', hostname: 'ctl2', isUp: true },
  ])
})

test('reads the version and rejects other tools', () => {
  expect(parseVersion('slurm 22.05.8\n')).toBe('22.05.8')
  expect(parseVersion('slurm-wlm 20.11.9\n')).toBe('20.11.9')
  expect(parseVersion('bash: scontrol: command not found')).toBeNull()
})

test.each([
  ['gpu:h100:8(S:0-1)', [{ name: 'gpu', type: 'h100', count: 8, indexes: null }]],
  [
    'gpu:a100:2(IDX:0,3),shard:6(S:0)',
    [
      { name: 'gpu', type: 'a100', count: 2, indexes: '0,3' },
      { name: 'shard', type: null, count: 6, indexes: null },
    ],
  ],
  ['gres:gpu:h100:4', [{ name: 'gpu', type: 'h100', count: 4, indexes: null }]],
  ['gres/gpu:h100:4', [{ name: 'gpu', type: 'h100', count: 4, indexes: null }]],
  ['gres/gpu:4', [{ name: 'gpu', type: null, count: 4, indexes: null }]],
  ['gres/gpu', [{ name: 'gpu', type: null, count: 1, indexes: null }]],
  ['gres/gpu=2', [{ name: 'gpu', type: null, count: 2, indexes: null }]],
  ['bandwidth:lustre:no_consume:4G', [{ name: 'bandwidth', type: 'lustre', count: 4 * 1024 ** 3, indexes: null }]],
  ['gpu:(null):4(IDX:0-3)', [{ name: 'gpu', type: null, count: 4, indexes: '0-3' }]],
  [
    'gpu:(null):0(IDX:N/A),shard:(null):2(0/8)',
    [
      { name: 'gpu', type: null, count: 0, indexes: null },
      { name: 'shard', type: null, count: 2, indexes: null },
    ],
  ],
  ['N/A', []],
])('reads the generic resources %s', (text, expected) => {
  expect(parseGres(text)).toEqual(expected)
})

test('reads memory of trackable resources in MiB', () => {
  expect(parseTres('cpu=64,mem=62.50G,gres/gpu:h100=4')).toEqual({ cpu: 64, mem: 64_000, 'gres/gpu:h100': 4 })
  expect(parseTres('mem=500M,license/matlab=2,energy=n/a')).toEqual({ mem: 500, 'license/matlab': 2 })
  expect(parseTres('')).toEqual({})
})

test.each([
  ['30:00', 1800],
  ['1:30:00', 5400],
  ['7-00:00:00', 604_800],
  ['2-12', 216_000],
  ['45', 45],
  ['UNLIMITED', 'UNLIMITED'],
  ['N/A', null],
  ['', null],
])('reads the duration %s', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds)
})

test('rounds minutes up', () => {
  expect(parseMinutes('1:30')).toBe(2)
})

test('reads statistics before the first cycle, and refuses incomplete ones', () => {
  const output = fixture('22.05', 'sdiag.txt')
  const { main, backfill } = parseScheduler(output.replace(/^\s*(?:Mean cycle|Cycles per minute):.*\n/gm, ''))
  expect([main.meanCycle, main.cyclesPerMinute, backfill.meanCycle]).toEqual([null, null, null])
  expect(() => parseScheduler(output.slice(0, 400))).toThrow('the output has no "')
  expect(() => parseScheduler('')).toThrow('the output has no "')
})

// 20.11 to 22.05; a remote license from 23.02 on; a license of nodes from 25.05 on.
test.each([
  ['LicenseName=matlab Total=10 Used=2 Free=7 Reserved=1 Remote=no', 'matlab', false],
  [
    'LicenseName=matlab@srv Total=10 Used=2 Free=7 Reserved=1 Remote=yes LastConsumed=0 LastDeficit=0 LastUpdate=1795',
    'matlab@srv',
    true,
  ],
  ['LicenseName=gas Total=10 Used=2 Free=7 Reserved=1 Remote=no Nodes=n[1-2] Mode=1', 'gas', false],
])('reads %s', (line, name, isRemote) => {
  expect(parseLicenses(`${line}\n`)).toEqual([{ name, total: 10, used: 2, free: 7, reserved: 1, isRemote }])
})

test('refuses empty and cut lists of licenses', () => {
  expect(parseLicenses('No licenses configured in Slurm.\n')).toEqual([])
  expect(() => parseLicenses('')).toThrow('it is empty')
  expect(() => parseLicenses('LicenseName=matlab Total=10 Us')).toThrow('a record has no')
})

test.each([
  ['partitions', parsePartitions, 'PartitionName=gpu AllowGroups=ALL St'],
  ['reservations', parseReservations, 'ReservationName=fix StartTime=1893456000'],
])('refuses empty and cut lists of %s', (kind, parse, cut) => {
  expect(parse(`No ${kind} in the system\n`)).toEqual([])
  expect(() => parse('')).toThrow('it is empty')
  expect(() => parse(cut)).toThrow('a record has no')
})
