import { describe, expect, it } from 'vitest'
import { evaluateReadiness, type ReadinessInput } from './evaluate.ts'

/** What `readinessScript` prints on a node that can join. */
const READY = {
  root: 'yes',
  os: 'debian 12 ',
  arch: 'x86_64',
  hostname: 'cpu1.example.org',
  clock: '1000',
  cgroup: 'v2',
  disk: '/dev/vda1 10000000 1 9000000 1% /',
  resolves: 'ctl',
  reaches: 'ctl',
}
const INPUT: ReadinessInput = {
  controllers: [{ name: 'ctl', address: '10.0.0.1' }],
  files: ['/dev/nvidia0', '/dev/nvidia1'],
  prefix: null,
  usesNodeRepositories: true,
  config: {
    ...{ name: 'cpu1', address: '10.0.0.2', sockets: 1, coresPerSocket: 4, threadsPerCore: 2, realMemoryMiB: 1000, features: [] },
    gres: [{ name: 'gpu', type: 'h100', count: 2, files: ['/dev/nvidia0', '/dev/nvidia1'], cores: null }],
  },
  release: '22.05.8',
  isResolvedByController: true,
  now: 1000,
}
type Printed = Partial<Record<string, string | null>>

function problems(printed: Printed, input: Partial<ReadinessInput> = {}) {
  const lines = Object.entries({ ...READY, ...printed }).flatMap(([word, value]) => (value === null ? [] : [`${word} ${value}`]))
  return evaluateReadiness([...lines, 'end'].join('\n'), { ...INPUT, ...input })
    .filter(({ state }) => state !== 'OK')
    .map(({ name, state, message }) => `${name} ${state} ${message}`)
}

describe('a node', () => {
  it('can join', () => expect(problems({})).toEqual([]))

  it.each<[string, Printed, Partial<ReadinessInput>, RegExp]>([
    ['another system', { os: 'alpine 3.20 ' }, {}, /^os FAILED alpine 3.20 is neither/],
    [
      'a RHEL host without EPEL',
      { os: 'rocky 9.4 rhel centos fedora', packages: 'missing' },
      {},
      /^packages FAILED .*enable EPEL/,
    ],
    ['another architecture', { arch: 'riscv64' }, {}, /^arch FAILED riscv64/],
    ['another host name', { hostname: 'cpu9' }, {}, /^hostname FAILED the host name is cpu9, and not cpu1/],
    ['a clock that munge rejects', { clock: '400' }, {}, /^clock FAILED 600 s behind Muster/],
    ['a clock that differs', { clock: '1060' }, {}, /^clock WARNING 60 s ahead of Muster/],
    ['no route to the controller', { reaches: null }, {}, /^ports FAILED port 6817 of ctl/],
    ['no name of the controller', { resolves: null }, {}, /^dns WARNING does not resolve ctl/],
    ['a name that the controller does not know', {}, { isResolvedByController: false }, /^dns WARNING the controller does not/],
    ['a running slurmd', { running: 'slurmd' }, {}, /^slurm FAILED slurmd runs here already/],
    ['a used port', { port: 'used' }, {}, /^slurm FAILED .*6818/],
    ['another slurmctld', { running: 'slurmctld' }, {}, /^slurm FAILED slurmctld of another cluster/],
    ['another slurmdbd', { running: 'slurmdbd' }, {}, /^slurm FAILED slurmdbd of another cluster/],
    ['a newer slurmd', { installed: 'slurmd', version: 'slurm-wlm 23.11.4' }, {}, /^slurm FAILED .*23\.11/],
    ['another munge', { running: 'munged' }, {}, /^munge FAILED/],
    ['no cgroups', { cgroup: null }, {}, /^cgroups WARNING not mounted/],
    ['a full disk', { disk: '/dev/vda1 1 1 1000 99% /' }, {}, /^disk FAILED 0 MiB free/],
    ['little space', { disk: '/dev/vda1 1 1 1048576 99% /' }, {}, /^disk WARNING 1024 MiB free/],
    ['an unknown disk', { disk: null }, {}, /^disk FAILED an unknown amount/],
    ['missing devices', { missing: '/dev/nvidia1' }, {}, /^gpus FAILED 1 of 2 device files are missing: \/dev\/nvidia1/],
    [
      'fewer CPUs',
      { hardware: 'NodeName=cpu1 CPUs=4 RealMemory=1000' },
      {},
      /^hardware WARNING slurmd -C reports 4 CPUs, slurm.conf 8;/,
    ],
    [
      'less memory',
      { hardware: 'NodeName=cpu1 CPUs=8 RealMemory=700' },
      {},
      /^hardware WARNING slurmd -C reports 700 MiB of memory, slurm.conf 744;/,
    ],
    ['no Slurm in the prefix', {}, { prefix: '/opt/slurm' }, /^slurm FAILED \/opt\/slurm\/sbin\/slurmd is missing/],
    ['sudo with a password', { root: 'no' }, {}, /^root WARNING/],
  ])('with %s is named', (_, printed, input, expected) => {
    expect(problems(printed, input)).toEqual([expect.stringMatching(expected)])
  })

  it('needs no known system where Slurm is in a prefix', () => {
    const installed = { prefix: 'found', installed: 'slurmd', version: 'slurm 22.05.8', os: 'alpine 3.20 ' }
    expect(problems(installed, { prefix: '/opt/slurm' })).toEqual([])
  })
})
