import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { configErrors, SITE } from '../../test/config-files.ts'
import { changeConfig } from './change.ts'
import { diffConfig } from './diff.ts'
import { readEntries, readHostlist, readSetting } from './model.ts'
import * as parser from './parse.ts'
import { readSettings } from './settings.ts'
import type { ConfigChange, ConfigFiles } from './types.ts'

vi.mock('./parse.ts', async (original) => {
  const actual = await original<typeof parser>()
  return { ...actual, parseConfig: vi.fn(actual.parseConfig) }
})
const { parseConfig } = parser

const TEXT = `# The cluster
ClusterName=a
SlurmctldHost=c
KillWait = 30 # seconds
GresTypes=gpu

# Nodes
NodeName=DEFAULT CPUs=4
NodeName=n[1-4] NodeAddr=10.0.0.[4,3,2,1] RealMemory=1000 Gres=gpu:h100:4 \\
  Weight=1 # rack 1
PartitionName=p Nodes=n[1-4] MaxTime=1:00:00 State=UP
PartitionName=q Nodes=n1
`
const FILES: ConfigFiles = { 'slurm.conf': TEXT, 'gres.conf': 'NodeName=n[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-3] # all\n' }
const change = (...changes: ConfigChange[]) => changeConfig(FILES, changes)
const slurmConf = (...changes: ConfigChange[]) => change(...changes)['slurm.conf']

describe('changeConfig', () => {
  test.each<[string, ConfigChange, string, string]>([
    ['sets a key', { key: 'killwait', value: '60' }, 'KillWait = 30 #', 'KillWait = 60 #'],
    ['adds a key after the last one', { key: 'MaxJobCount', value: '5' }, 'GresTypes=gpu\n', 'GresTypes=gpu\nMaxJobCount=5\n'],
    ['removes a key', { key: 'KillWait', value: null }, 'KillWait = 30 # seconds\n', ''],
    ['quotes a value', { key: 'KillWait', value: 'a b' }, 'KillWait = 30', 'KillWait = "a b"'],
    ['sets a field of a partition', { partition: 'p', key: 'MaxTime', value: '2-0' }, 'MaxTime=1:00:00', 'MaxTime=2-0'],
    ['adds a field to a partition', { partition: 'q', key: 'State', value: 'DOWN' }, 'Nodes=n1\n', 'Nodes=n1 State=DOWN\n'],
    ['removes a field of a partition', { partition: 'p', key: 'MaxTime', value: null }, ' MaxTime=1:00:00', ''],
    ['sets a field of all nodes of a line', { nodes: 'n[1-4]', key: 'Weight', value: '9' }, 'Weight=1 #', 'Weight=9 #'],
  ])('%s', (_, one, before, after) => {
    expect(TEXT).toContain(before)
    expect(slurmConf(one)).toBe(TEXT.replace(before, after))
  })

  test('splits the line of nodes that do not all change', () => {
    const config = parseConfig(slurmConf({ nodes: 'n[2-3]', key: 'RealMemory', value: '2000' }))
    expect(
      readEntries(config, 'NodeName').map(({ name, values }) => [
        readHostlist(name),
        readHostlist(values.get('nodeaddr')),
        values.get('realmemory'),
        values.get('weight'),
      ]),
    ).toEqual([
      [['n1', 'n4'], ['10.0.0.4', '10.0.0.1'], '1000', '1'],
      [['n2', 'n3'], ['10.0.0.3', '10.0.0.2'], '2000', '1'],
    ])
  })

  test('changes gres.conf with the GPUs of nodes', () => {
    const files = change({ nodes: 'n[1-2]', key: 'Gres', value: 'gpu:h100:2' })
    expect(files['gres.conf']).toBe(
      'NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-1] # all\nNodeName=n[3-4] Name=gpu Type=h100 File=/dev/nvidia[0-3] # all\n',
    )
    expect(configErrors(files)).toBe('')
    const none = change({ nodes: 'n1', key: 'Gres', value: null })
    expect(none['gres.conf']).toBe('NodeName=n[2-4] Name=gpu Type=h100 File=/dev/nvidia[0-3] # all\n')
    // More GPUs need their device files, which only a person knows.
    expect(configErrors(change({ nodes: 'n1', key: 'Gres', value: 'gpu:h100:8' }))).toMatch(
      /has 8 gpu:h100, but gres.conf has 4 on n1/,
    )
    expect(slurmConf({ nodes: 'n1', key: 'Gres', value: 'npu:2' })).toContain('GresTypes=gpu,npu\n')
  })

  test.each<[ConfigChange, RegExp]>([
    [{ key: 'SlurmctldHost', value: 'x' }, /several lines/],
    [{ key: 'NodeName', value: 'x' }, /several lines/],
    [{ key: 'Kill Wait', value: '1' }, /is no key/],
    [{ key: 'KillWait', value: '1\nNodeName=evil' }, /edit of the text/],
    [{ key: 'KillWait', value: '1 # x' }, /edit of the text/],
    [{ partition: 'nosuch', key: 'State', value: 'UP' }, /no partition nosuch/],
    [{ nodes: 'n[4-5]', key: 'Weight', value: '1' }, /no node n5/],
    [{ nodes: 'n[1-', key: 'Weight', value: '1' }, /malformed/],
    [{ nodes: 'n[1-2]', key: 'NodeAddr', value: 'x' }, /one node at a time/],
    [{ nodes: 'n1', key: 'NodeName', value: 'x' }, /renamed/],
    [{ partition: 'p', key: 'PartitionName', value: 'x' }, /renamed/],
  ])('rejects %j', (one, message) => {
    expect(() => change(one)).toThrow(message)
  })

  test('names the change that is not possible', () => {
    const gone: ConfigChange = { partition: 'nosuch', key: 'State', value: 'UP' }
    expect(() => change({ key: 'KillWait', value: '1' }, gone)).toThrow(expect.objectContaining({ index: 1 }))
  })

  test('is the same as one change after the other, and parses the files once', () => {
    const node = fc.constantFrom('n1', 'n[2-3]', 'n[1-4]')
    const oneChange = fc.oneof(
      fc.record({ key: fc.constantFrom('KillWait', 'MaxJobCount', 'GresTypes'), value: fc.option(fc.constantFrom('1', '22')) }),
      fc.record({
        partition: fc.constantFrom('p', 'q'),
        key: fc.constant('MaxTime'),
        value: fc.option(fc.constantFrom('1', '2')),
      }),
      fc.record({ nodes: node, key: fc.constantFrom('Weight', 'RealMemory'), value: fc.option(fc.constantFrom('5', '7')) }),
      fc.record({ nodes: node, key: fc.constant('Gres'), value: fc.constantFrom('gpu:h100:2', 'gpu:h100:1', '') }),
    )
    fc.assert(
      fc.property(fc.array(oneChange, { minLength: 1, maxLength: 12 }), (changes) => {
        const one = changes.filter(({ key }) => key !== 'GresTypes')
        expect(changeConfig(FILES, one)).toEqual(one.reduce((files, change) => changeConfig(files, [change]), FILES))
        vi.mocked(parseConfig).mockClear()
        changeConfig(FILES, changes)
        expect(vi.mocked(parseConfig).mock.calls.filter(([text]) => text.split('\n').length > 8).length).toBeLessThan(5)
      }),
    )
  })

  test('changes only the lines of the key, and sets the value that is read back', () => {
    const settings = readSettings(SITE, '22.05').settings.map(({ key }) => key)
    const value = fc.stringMatching(/^[A-Za-z0-9_/,:. -]{0,20}$/)
    fc.assert(
      fc.property(fc.constantFrom(...settings), fc.option(value), (key, value) => {
        const files = changeConfig(SITE, [{ key, value }])
        expect(readSetting(parseConfig(files['slurm.conf']), key)).toBe(value)
        const changed = diffConfig(SITE, files).flatMap(({ lines }) => lines.filter(({ kind }) => kind !== ' '))
        expect(changed.every(({ text }) => text.toLowerCase().startsWith(key.toLowerCase()))).toBe(true)
      }),
    )
  })
})

describe('readSettings', () => {
  test('has the values of the files, and only keys that the release knows', () => {
    const { settings, partitions, nodes } = readSettings(FILES, '22.05')
    expect(settings.find(({ key }) => key === 'KillWait')).toMatchObject({
      group: 'TIMEOUTS',
      type: 'UINT16',
      default: '30',
      value: '30',
    })
    expect(partitions.map(({ name }) => name)).toEqual(['p', 'q'])
    expect(nodes).toHaveLength(1)
    expect(nodes[0]!.settings.find(({ key }) => key === 'CPUs')?.value).toBe('4')
    for (const release of ['20.11', '22.05', '26.05'])
      expect(
        configErrors(
          changeConfig(
            FILES,
            readSettings(FILES, release).settings.map(({ key, value }) => ({ key, value: value ?? '' })),
          ),
          release,
        ),
      ).not.toMatch(/not known|was removed|needs Slurm/)
  })
})
