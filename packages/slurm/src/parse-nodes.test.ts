import { describe, expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { parseNodes } from './parse-nodes.ts'

const UTC_EPOCH = Date.UTC(2026, 10, 22)

describe.each(VERSIONS)('Slurm %s', (version) => {
  const nodes = parseNodes(fixture(version, 'nodes.json'))
  const node = (name: string) => nodes.find((candidate) => candidate.name === name)!

  test('reads the same nodes from JSON and from text', () => {
    expect(parseNodes(fixture(version, 'nodes.txt')).sort(byName)).toEqual([...nodes].sort(byName))
    expect(nodes.length).toBeGreaterThanOrEqual(8)
  })

  test('reads all state flags, the base state first', () => {
    expect(node('gpu02').states).toEqual(['IDLE', 'DRAIN'])
    expect(node('cpu03').states).toEqual(['DOWN', 'NOT_RESPONDING'])
    expect(node('cpu02').states).toEqual(['MIXED', 'RESERVED'])
    expect(node('mig01').states).toEqual(['ALLOCATED'])
  })

  test('reads a reason with quotes, pipes and other alphabets, and who set it when', () => {
    const { reason, reasonUser, reasonAt } = node('gpu02')
    expect({ reason, reasonUser }).toEqual({ reason: String.raw`disk "sda" | it's hot: 温度 é % \ 85°C`, reasonUser: 'root' })
    expect(reasonAt!.getTime()).toBeGreaterThan(UTC_EPOCH)
    expect(node('gpu01')).toMatchObject({ reason: null, reasonUser: null, reasonAt: null })
  })

  test('reads GPUs by type, MIG devices apart from whole ones', () => {
    expect(node('mig01').gres).toEqual([
      { name: 'gpu', type: 'h100', count: 4, indexes: null },
      { name: 'gpu', type: 'h100_1g.10gb', count: 14, indexes: null },
    ])
    expect(node('mig01').gresUsed).toEqual([
      { name: 'gpu', type: 'h100', count: 4, indexes: '0-3' },
      { name: 'gpu', type: 'h100_1g.10gb', count: 14, indexes: '4-17' },
    ])
    expect(node('gpu03').gresUsed).toEqual([{ name: 'gpu', type: 'h100', count: 3, indexes: '0-2' }])
    expect(node('cpu01').gresUsed).toEqual([])
  })

  test('reads CPUs, memory in MiB, partitions and features', () => {
    expect(node('gpu01')).toMatchObject({
      address: 'gpu01',
      hostname: 'gpu01',
      partitions: ['debug', 'gpu', 'maint'],
      cpus: 64,
      allocatedCpus: 8,
      memory: 512_000,
      allocatedMemory: 65_536,
      tres: { cpu: 64, mem: 512_000, 'gres/gpu': 8, 'gres/gpu:h100': 8 },
      tresUsed: { cpu: 8, mem: 65_536, 'gres/gpu': 4, 'gres/gpu:h100': 4 },
      features: ['h100', 'ib', 'rack1'],
      weight: 20,
    })
    expect(node('dyn01').address).toBe('10.88.1.10')
  })

  test('reads "never" and "unknown" of a node that was never seen as null', () => {
    expect(node('cpu03')).toMatchObject({ bootAt: null, slurmdStartedAt: null, version: null, freeMemory: null, cpuLoad: null })
    expect(node('cpu01').cpuLoad).toBeGreaterThan(1)
    expect(node('cpu01').version).toMatch(version)
  })
})

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)

test('converts local times of text by the offset of the controller', () => {
  const [before] = parseNodes(fixture('22.05', 'nodes.txt'))
  const [after] = parseNodes(fixture('22.05', 'nodes.txt'), { utcOffset: 120 })
  expect(before!.bootAt!.getTime() - after!.bootAt!.getTime()).toBe(2 * 3600 * 1000)
})

test('reads times in seconds since 1970, as SLURM_TIME_FORMAT=%s prints them', () => {
  const line = 'NodeName=n1 State=IDLE+DRAIN CPUTot=4 BootTime=1795333726 SlurmdStartTime=0 Reason=disk [root@1795333728]\n'
  expect(parseNodes(line)[0]).toMatchObject({
    bootAt: new Date(1795333726e3),
    slurmdStartedAt: null,
    reasonAt: new Date(1795333728e3),
  })
})

test('does not take keys inside of a reason for fields', () => {
  const line =
    'NodeName=n1 State=IDLE+DRAIN CPUTot=4 Comment=for Weight=9 Reason=State=IDLE CPUTot=64 [bob@2026-11-22T07:48:46]\n'
  expect(parseNodes(line)[0]).toMatchObject({
    states: ['IDLE', 'DRAIN'],
    cpus: 4,
    weight: 0,
    reason: 'State=IDLE CPUTot=64',
    reasonUser: 'bob',
    comment: 'for Weight=9',
  })
})

test('ignores login banners before text', () => {
  expect(parseNodes('Welcome to ctl!\n\nNodeName=n1 State=DOWN*+DRAIN CPUTot=4\n')).toMatchObject([
    { name: 'n1', states: ['DOWN', 'NOT_RESPONDING', 'DRAIN'] },
  ])
})

test.each([
  [
    'an error of the controller',
    '{"errors": [{"error": "Unable to contact slurm controller"}], "nodes": []}',
    'Unable to contact',
  ],
  ['truncated JSON', '{"nodes": [{"name": "n1"', 'not complete JSON'],
  ['empty text', '', 'no NodeName'],
  ['other text', 'Welcome!\n', 'no NodeName'],
  ['a record that was cut off', 'NodeName=n1 CPUTot=4 Sta', 'no State'],
  ['the JSON of another command', '{"sinfo": []}', 'no list "nodes"'],
])('refuses %s', (_, output, message) => {
  expect(() => parseNodes(output)).toThrow(message)
})

test('reads nodes of Slurm 20.11 that are powered down', () => {
  expect(parseNodes('NodeName=c1 CPUTot=4 State=IDLE+CLOUD+POWER\n')[0]!.states).toEqual(['IDLE', 'CLOUD', 'POWERED_DOWN'])
})

test('reads an empty list of nodes', () => {
  expect(parseNodes('No nodes in the system\n')).toEqual([])
})
