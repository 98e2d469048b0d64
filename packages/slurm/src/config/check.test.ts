import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configErrors, configNode, SITE } from '../../test/config-files.ts'
import { addNodes, type ConfigFiles, checkConfig, planConfig, removeNodes } from './index.ts'

describe('checkConfig', () => {
  test('accepts a site configuration', () => {
    expect(checkConfig(SITE, '23.11.4')).toEqual([])
  })

  test('warns of cloud nodes that slurmctld hides, or that nothing starts', () => {
    const messages = (text: string, release: string) =>
      checkConfig({ ...SITE, 'slurm.conf': text }, release).map(({ severity, message }) => `${severity} ${message}`)
    const text = SITE['slurm.conf']
    expect(messages(text, '22.05.8')).toEqual([expect.stringMatching(/^WARNING .*cloud01, cloud02. Set PrivateData=cloud/)])
    expect(messages(`${text}\nPrivateData=jobs,cloud\n`, '22.05.8')).toEqual([])
    expect(messages(`${text}\nPrivateData=jobs\n`, '22.05.8')).toEqual([expect.stringContaining('Set PrivateData=jobs,cloud')])
    expect(messages(text.replace(/^ResumeProgram=.*\n/m, ''), '23.11.4')).toEqual([
      expect.stringMatching(/^WARNING .*ResumeProgram is not set: cloud01, cloud02/),
    ])
  })

  test.each<[string, Partial<ConfigFiles> | [from: string | RegExp, to: string], RegExp]>([
    ['a node twice', ['NodeName=mig01', 'NodeName=gpu02'], /slurm.conf:48: The node gpu02 is defined twice, first in line 47/],
    [
      'a partition with unknown nodes',
      ['gpu[01-03],mig01 MaxTime', 'gpu[01-05] MaxTime'],
      /nodes that are not defined: gpu04, gpu05/,
    ],
    [
      'unpaired addresses',
      ['NodeName=cpu[01-03]', 'NodeName=cpu[01-03] NodeAddr=1.1.1.[1-2]'],
      /3 nodes, but 2 values of NodeAddr/,
    ],
    ['an unknown resource', ['GresTypes=gpu', 'GresTypes=npu'], /GresTypes does not list gpu/],
    [
      'a node without a switch',
      { 'topology.conf': 'SwitchName=s Nodes=gpu[01-03],mig01,cpu[01-02],cloud[01-02]\n' },
      /No switch has cpu03/,
    ],
    [
      'a switch with an unknown node',
      { 'topology.conf': 'SwitchName=s Nodes=ALL9\n' },
      /topology.conf:1: slurm.conf does not define ALL9/,
    ],
    [
      'too few devices',
      { 'gres.conf': 'NodeName=gpu[01-03] Name=gpu Type=h100 File=/dev/nvidia[0-5]\n' },
      /has 8 gpu:h100, but gres.conf has 6 on gpu01, gpu02, gpu03/,
    ],
    ['no gres.conf', { 'gres.conf': undefined }, /the missing gres.conf has 0/],
    ['GPUs without files', { 'gres.conf': 'NodeName=gpu01 Name=gpu Type=h100 Count=8\n' }, /gres.conf:1: GPUs need File/],
    [
      'an unknown key of cgroup.conf',
      { 'cgroup.conf': 'CgroupSlice=a\n' },
      /cgroup.conf:1: The key CgroupSlice needs Slurm 25.11/,
    ],
  ])('finds %s', (_, change, message) => {
    const files = Array.isArray(change)
      ? { ...SITE, 'slurm.conf': SITE['slurm.conf'].replace(...(change as [string, string])) }
      : { ...SITE, ...change }
    expect(configErrors(files)).toMatch(message)
  })

  test('judges by the release', () => {
    const files = { ...SITE, 'topology.conf': 'SwitchName=s Nodes=gpu[01-03]\n' }
    expect(configErrors(files, '25.11')).toContain('No switch has')
    expect(configErrors(files, '26.05')).not.toContain('No switch has')
  })

  test('never fails', () => {
    const parts = fc.constantFrom(...SITE['slurm.conf'].split(/(?=[=\s,[\]])/), '[', ']', '"', '\\\n', '#')
    const text = fc.array(parts, { maxLength: 200 }).map((words) => words.join(''))
    fc.assert(
      fc.property(text, text, text, (slurm, gres, topology) => {
        const files = { 'slurm.conf': slurm, 'gres.conf': gres, 'topology.conf': topology, 'cgroup.conf': gres }
        checkConfig(files, '22.05')
        removeNodes(files, ['gpu01'])
        planConfig(files, SITE, '22.05')
      }),
    )
  })
})

describe('planConfig', () => {
  const added = addNodes(SITE, [configNode('gpu04')], ['gpu'])
  const replace = (from: string, to: string) => ({ ...SITE, 'slurm.conf': SITE['slurm.conf'].replace(from, to) })

  test.each<[string, ConfigFiles, string, object]>([
    ['nothing', SITE, '22.05', { controllers: 'NONE', nodes: [], lost: [] }],
    ['a new node, 22.05', added, '22.05.8', { controllers: 'RESTART', nodes: [], addedNodes: ['gpu04'] }],
    ['a new node, 23.11', added, '23.11.4', { controllers: 'RECONFIGURE', nodes: [], addedNodes: ['gpu04'] }],
    [
      'a removed node, 22.05',
      removeNodes(SITE, ['gpu01']),
      '22.05',
      { controllers: 'RESTART', nodes: [], removedNodes: ['gpu01'] },
    ],
    ['a setting', replace('KillWait=5', 'KillWait=9'), '22.05', { controllers: 'RECONFIGURE', nodes: [] }],
    [
      'a plugin, 22.05',
      replace('PriorityType=priority/multifactor', 'PriorityType=priority/basic'),
      '22.05',
      { controllers: 'RESTART', nodes: [] },
    ],
    ['a port', replace('ClusterName=lab', 'ClusterName=lab\nSlurmctldPort=7000'), '25.11', { controllers: 'RESTART' }],
    ['weights', replace('Weight=20', 'Weight=21'), '22.05', { controllers: 'RECONFIGURE', nodes: [] }],
    ['hardware', replace('Gres=gpu:h100:4,', 'Gres=gpu:h100:2,'), '22.05', { controllers: 'RESTART', nodes: ['mig01'] }],
    [
      'devices',
      { ...SITE, 'gres.conf': SITE['gres.conf']!.replace('nvidia[0-7]', 'nvidia[1-8]') },
      '23.11',
      { controllers: 'RECONFIGURE', nodes: ['gpu01', 'gpu02', 'gpu03'] },
    ],
  ])('plans a change of %s', (_, to, release, plan) => {
    expect(planConfig(SITE, to, release)).toMatchObject(plan)
  })

  test('names what is lost', () => {
    const plan = planConfig(SITE, replace('SelectType=select/cons_tres', 'SelectType=select/linear'), '25.11')
    expect(plan.lost.join()).toMatch(/scontrol.*All jobs are lost/)
  })
})
