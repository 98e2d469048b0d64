import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configErrors, configNode, SITE } from '../../test/config-files.ts'
import { expandHostlist } from '../hostlist.ts'
import {
  addNodes,
  type ConfigFiles,
  type ConfigSettings,
  checkConfig,
  configuredMemory,
  createConfig,
  diffConfig,
  extraLineProblem,
  nodeNames,
  parseConfig,
  readEntries,
  readHostlist,
  removeNodes,
  trialFiles,
} from './index.ts'

const gpus = { name: 'gpu', type: 'h100', count: 4, files: [0, 1, 2, 3].map((n) => `/dev/nvidia${n}`), cores: '0-31' }

const settings: ConfigSettings = {
  clusterName: 'prod',
  controllers: [
    { name: 'ctl1', address: '10.0.0.1' },
    { name: 'ctl2', address: '10.0.0.2' },
  ],
  slurmUser: 'slurm',
  stateFolder: '/var/spool/slurmctld',
  partitions: [
    { name: 'batch', isDefault: true, maxTimeMinutes: 60 },
    { name: 'long', isDefault: false, maxTimeMinutes: null },
  ],
  accountingHost: null,
  accountingPort: null,
  extraLines: [],
}
const namesOf = (files: ConfigFiles) => nodeNames(parseConfig(files['slurm.conf']))
const partition = (files: ConfigFiles, name: string) =>
  readEntries(parseConfig(files['slurm.conf']), 'PartitionName')
    .find((entry) => entry.name === name)!
    .values.get('nodes')

describe('parseConfig', () => {
  test('reads keys, values, comments and continued lines', () => {
    const { lines } = parseConfig('# all\nNodeName=a Reason="x # y" CPUs=2 \\ # two\n  Weight=3\nInclude other.conf\nwhat\n')
    expect(
      lines.map(({ number, fields, include, rest }) => ({ number, fields: fields.map((f) => [f.key, f.value]), include, rest })),
    ).toEqual([
      { number: 1, fields: [], include: null, rest: null },
      {
        number: 2,
        fields: [
          ['NodeName', 'a'],
          ['Reason', '"x'],
        ],
        include: null,
        rest: null,
      },
      { number: 3, fields: [['Weight', '3']], include: null, rest: null },
      { number: 4, fields: [], include: 'other.conf', rest: null },
      { number: 5, fields: [], include: null, rest: 'what' },
    ])
  })

  test('keeps each character of the file', () => {
    const text = fc.array(fc.constantFrom('NodeName=a', ' ', '\n', '\\', '#', '"', '=', 'b\r\n', 'é'), { maxLength: 60 })
    fc.assert(
      fc.property(text, (parts) => {
        const file = parts.join('')
        expect(
          parseConfig(file)
            .lines.map((line) => line.text)
            .join(''),
        ).toBe(file)
      }),
    )
  })
})

describe('createConfig', () => {
  const nodes = [
    configNode('gpu1', { address: '10.0.1.1', gres: [gpus], features: ['h100', 'ib'] }),
    configNode('gpu2', { gres: [gpus] }),
    configNode('cpu1'),
  ]

  test('renders a configuration that has no problem', () => {
    const files = createConfig(settings, nodes, '22.05.8')
    expect(checkConfig(files, '22.05.8')).toEqual([])
    expect(files['slurm.conf']).toContain('SlurmctldHost=ctl1(10.0.0.1)\nSlurmctldHost=ctl2(10.0.0.2)\n')
    expect(files['slurm.conf']).toContain('SlurmctldParameters=enable_configless\n')
    expect(files['slurm.conf']).toContain(
      'NodeName=gpu1 NodeAddr=10.0.1.1 CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=501760 Gres=gpu:h100:4 Features=h100,ib State=UNKNOWN\n',
    )
    expect(files['slurm.conf']).toContain('PartitionName=long Nodes=ALL Default=NO MaxTime=UNLIMITED State=UP\n')
    expect(files['gres.conf']).toContain('NodeName=gpu[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-31\n')
    expect(files['cgroup.conf']).toContain('ConstrainDevices=yes\n')
  })

  test('renders MIG devices, shards and accounting', () => {
    const mig = {
      name: 'gpu',
      type: '1g.10gb',
      count: 2,
      files: ['/dev/nvidia0', '/dev/cap1', '/dev/nvidia0', '/dev/cap2'],
      cores: null,
    }
    const shards = { name: 'shard', type: null, count: 8, files: [], cores: null }
    const files = createConfig({ ...settings, accountingHost: 'db' }, [configNode('a', { gres: [shards, gpus, mig] })], '23.11')
    expect(files['gres.conf']!.split('\n').slice(1)).toEqual([
      'NodeName=a Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-31',
      'NodeName=a Name=gpu Type=1g.10gb MultipleFiles=/dev/nvidia0,/dev/cap1',
      'NodeName=a Name=gpu Type=1g.10gb MultipleFiles=/dev/nvidia0,/dev/cap2',
      'NodeName=a Name=shard Count=8',
      '',
    ])
    expect(files['slurm.conf']).toContain('AccountingStorageTRES=gres/gpu,gres/shard\n')
    expect(configErrors(files, '23.11')).toBe('')
  })

  test('uses extra lines instead of its own', () => {
    const extraLines = ['ProctrackType=proctrack/linuxproc', 'TaskPlugin=task/none', 'SlurmctldParameters=idle_on_node_suspend']
    const files = createConfig({ ...settings, extraLines }, nodes, '22.05')
    expect(files['slurm.conf'].match(/ProctrackType/g)).toHaveLength(1)
    expect(files['slurm.conf']).toContain('SlurmctldParameters=enable_configless,idle_on_node_suspend\n')
    expect(files['cgroup.conf']).toContain('CgroupPlugin=cgroup/v1\n')
    expect(createConfig({ ...settings, extraLines }, nodes, '25.11')['cgroup.conf']).toContain('CgroupPlugin=disabled\n')
  })

  test.each([
    ['NoSuchKey=1', /not known/],
    ['TLSType=tls/none', /needs Slurm 24.05/],
    ['ClusterName=x', /from the other settings/],
    ['NodeName=evil', /from the other settings/],
    ['KillWait=5\nNodeName=evil', /one line/],
    ['KillWait=5 \\', /one line/],
    ['Include /etc/passwd', /Included files/],
    ['what', /cannot read/],
  ])('rejects the extra line %j', (text, message) => {
    expect(extraLineProblem(text, '22.05')).toMatch(message)
    expect(() => createConfig({ ...settings, extraLines: [text] }, nodes, '22.05')).toThrow(message)
  })

  test('leaves memory to the operating system', () => {
    expect([4_000, 64_000, 2_000_000, 100].map(configuredMemory)).toEqual([3_744, 62_720, 1_983_616, 50])
  })
})

test('accounting has the whole address of its host', () => {
  const accounting = (accountingHost: string, accountingPort: number | null) =>
    createConfig({ ...settings, accountingHost, accountingPort }, [configNode('x')], '23.11')['slurm.conf'].match(
      /AccountingStorage(Host|Port)=.*/g,
    )
  expect(accounting('2001:db8::7', null)).toEqual(['AccountingStorageHost=2001:db8::7'])
  expect(accounting('db', 7000)).toEqual(['AccountingStorageHost=db', 'AccountingStoragePort=7000'])
})

describe('addNodes', () => {
  test('adds nodes to slurm.conf, partitions, gres.conf and topology.conf', () => {
    const files = addNodes(SITE, [configNode('gpu04', { gres: [{ ...gpus, count: 4 }], switchName: 'leaf1' })], ['gpu'])
    expect(namesOf(files)).toEqual([...namesOf(SITE), 'gpu04'])
    expect(partition(files, 'gpu')).toBe('gpu[01-04],mig01')
    expect(partition(files, 'debug')).toBe(partition(SITE, 'debug'))
    expect(files['topology.conf']).toContain('SwitchName=leaf1 Nodes=gpu[01-04]')
    expect(files['gres.conf']).toContain('NodeName=gpu04 Name=gpu Type=h100 File=/dev/nvidia[0-3]')
    expect(configErrors(files)).toBe('')
    const changed = diffConfig(SITE, files).flatMap(({ lines }) => lines.filter(({ kind }) => kind !== ' '))
    expect(changed.map(({ kind }) => kind).sort()).toEqual(['+', '+', '+', '+', '-', '-'])
  })

  test('adds the type of a resource that the cluster did not have', () => {
    const files = addNodes(
      { 'slurm.conf': 'ClusterName=a\nSlurmctldHost=c\nPartitionName=p Nodes=ALL' },
      [configNode('x', { gres: [gpus] })],
      ['p'],
    )
    expect(files['slurm.conf']).toContain('GresTypes=gpu\nNodeName=x')
    expect(partition(files, 'p')).toBe('ALL')
    expect(configErrors(files)).toBe('')
  })

  test('records the type of a resource that accounting did not have', () => {
    const lines = [
      ...[
        'ClusterName=a',
        'SlurmctldHost=c',
        'AccountingStorageType=accounting_storage/slurmdbd',
        'AccountingStorageTRES=gres/npu',
      ],
      ...['GresTypes=npu', 'NodeName=n Gres=npu:1', 'PartitionName=p Nodes=ALL'],
    ]
    const add = (text: string) => addNodes({ 'slurm.conf': text }, [configNode('x', { gres: [gpus] })], [])['slurm.conf']
    expect(add(lines.join('\n'))).toContain('AccountingStorageTRES=gres/npu,gres/gpu\nGresTypes=npu,gpu\n')
    const without = lines.filter((line) => !line.startsWith('AccountingStorageTRES'))
    expect(add(without.join('\n'))).toContain('AccountingStorageTRES=gres/gpu\nNodeName=n')
    expect(add(without.filter((line) => !line.startsWith('Accounting')).join('\n'))).not.toContain('TRES')
  })

  test('keeps the tree of switches complete when nodes join and leave', () => {
    const on = (name: string, switchName: string) => configNode(name, { switchName })
    const one = createConfig(settings, [on('a1', 'leaf1'), on('a2', 'leaf1')], '22.05')
    expect(one['slurm.conf']).toContain('TopologyPlugin=topology/tree\n')
    const lines = (files: ConfigFiles) => files['topology.conf']!.split('\n').slice(1, -1)
    expect(lines(one)).toEqual(['SwitchName=leaf1 Nodes=a[1-2]'])
    const two = addNodes(one, [on('b1', 'leaf2')], [])
    const root = (leaves: string) => `SwitchName=muster_root Switches=${leaves}`
    expect(lines(two)).toEqual(['SwitchName=leaf1 Nodes=a[1-2]', 'SwitchName=leaf2 Nodes=b1', root('leaf[1-2]')])
    const three = addNodes(two, [on('b2', 'leaf2'), on('c1', 'leaf3')], [])
    expect(lines(three)).toEqual([
      'SwitchName=leaf1 Nodes=a[1-2]',
      'SwitchName=leaf2 Nodes=b[1-2]',
      root('leaf[1-3]'),
      'SwitchName=leaf3 Nodes=c1',
    ])
    expect(lines(removeNodes(three, ['b1', 'b2', 'a1']))).toEqual([
      'SwitchName=leaf1 Nodes=a2',
      root('leaf[1,3]'),
      'SwitchName=leaf3 Nodes=c1',
    ])
    for (const files of [one, two, three, removeNodes(three, ['b1', 'b2'])]) expect(configErrors(files)).toBe('')
    expect(createConfig(settings, [configNode('x')], '22.05')['topology.conf']).toBeUndefined()
    expect(() => createConfig(settings, [on('a', 'leaf1'), configNode('x')], '22.05')).toThrow('The node x has no switch')
    const flat = { ...SITE, 'topology.conf': 'SwitchName=l1 Nodes=gpu01\nSwitchName=l2 Nodes=gpu02\n' }
    expect(() => addNodes(flat, [on('new', 'l3')], [])).toThrow('no switch l3')
  })

  test('adds no switches to a topology of blocks', () => {
    const files = { ...SITE, 'topology.conf': 'BlockName=b1 Nodes=gpu[01-03]\nBlockSizes=4\n' }
    const add = (switchName: string) => addNodes(files, [configNode('gpu04', { switchName })], [])['topology.conf']
    expect(add('b1')).toBe('BlockName=b1 Nodes=gpu[01-04]\nBlockSizes=4\n')
    expect(() => add('b2')).toThrow('topology.conf has no block b2, which the label switch of gpu04 names.')
  })

  test('rejects a node that exists and a partition that does not', () => {
    expect(() => addNodes(SITE, [configNode('gpu01')], [])).toThrow('has the node gpu01 already')
    expect(() => addNodes(SITE, [configNode('new')], ['nosuch'])).toThrow('no partition nosuch')
  })
})

describe('removeNodes', () => {
  test('does not touch node10 when node1 is removed', () => {
    const files = { 'slurm.conf': 'NodeName=node[1-12] CPUs=1 # rack 1\nPartitionName=p Nodes=node1,node10,node[11-12]\n' }
    expect(removeNodes(files, ['node1'])['slurm.conf']).toBe(
      'NodeName=node[2-12] CPUs=1 # rack 1\nPartitionName=p Nodes=node[10-12]\n',
    )
  })

  test('keeps each node with its address', () => {
    const files = { 'slurm.conf': 'NodeName=n[1-4] NodeAddr=10.0.0.[9,5,6-7] Port=1\n' }
    const { values, name } = readEntries(parseConfig(removeNodes(files, ['n2'])['slurm.conf']), 'NodeName')[0]!
    expect(readHostlist(name)).toEqual(['n1', 'n3', 'n4'])
    expect(readHostlist(values.get('nodeaddr'))).toEqual(['10.0.0.9', '10.0.0.6', '10.0.0.7'])
  })

  test('removes nodes from all files, and what has no node left', () => {
    const files = removeNodes(SITE, ['cloud01', 'cloud02', 'gpu01'])
    expect(configErrors(files)).toBe('')
    expect(files['topology.conf']).toContain('SwitchName=spine Switches=leaf[1-2]')
    expect(files['gres.conf']).toContain('NodeName=gpu[02-03]')
    expect(partition(files, 'cloud')).toBeUndefined()
    expect(Object.values(files).join('')).not.toMatch(/cloud0|gpu01/)
  })

  test('is reversed by addNodes, and removes exactly the named nodes', () => {
    const names = expandHostlist('n[1-12],m[01-03]')
    fc.assert(
      fc.property(fc.subarray(names), fc.boolean(), (gone, hasAddresses) => {
        const addresses = names.map((_, i) => `10.0.0.${(i * 7) % 15}`)
        const list = `NodeName=${names.join(',')} CPUs=64${hasAddresses ? ` NodeAddr=${addresses.join(',')}` : ''}\n`
        const files = { 'slurm.conf': `${list}NodeName=other CPUs=1\nPartitionName=p Nodes=${names.join(',')},other\n` }
        const result = removeNodes(files, gone)
        const kept = names.filter((name) => !gone.includes(name))
        expect(namesOf(result)).toEqual([...kept, 'other'])
        expect(new Set(readHostlist(partition(result, 'p')))).toEqual(new Set([...kept, 'other']))
        if (hasAddresses && kept.length > 0) {
          const { values } = readEntries(parseConfig(result['slurm.conf']), 'NodeName')[0]!
          expect(readHostlist(values.get('nodeaddr'))).toEqual(kept.map((name) => addresses[names.indexOf(name)]))
        }
        const again = addNodes(
          result,
          gone.map((name) => configNode(name)),
          ['p'],
        )
        expect(namesOf(again).sort()).toEqual([...names, 'other'].sort())
      }),
    )
  })
})

test('a trial runs as SlurmUser, and logs as slurmctld does by default', () => {
  const text = 'SlurmUser="slurm" # quoted\nSlurmctldDebug=error\nLogTimeFormat=thread_id\nKillWait=9\n'
  const trial = trialFiles({ 'slurm.conf': text })
  expect(trial).toMatchObject({ slurmUser: 'slurm', files: { 'slurm.conf': 'SlurmUser="slurm" # quoted\nKillWait=9\n' } })
  expect(trialFiles({ 'slurm.conf': 'KillWait=9\n' })).toMatchObject({ slurmUser: 'root' })
})
