import { describe, expect, test } from 'vitest'
import { gresLines, nodeLine } from '../../../slurm/src/config/create.ts'
import { discoveryFixture } from '../testing/discovery-fixture.ts'
import { configNodeOf, gresOf, gresType, withShards } from './config-node.ts'

test.each([
  ['NVIDIA H100 80GB HBM3', 'h100'],
  ['NVIDIA A100-SXM4-40GB', 'a100'],
  ['AMD Instinct MI300X', 'mi300x'],
  [null, null],
])('the GRES type of %s is %s', (model, type) => expect(gresType(model)).toBe(type))

const device = { deviceType: 'nvidia_gpu', model: 'NVIDIA H100', health: 'ok', partitionMode: null } as const
const gpu = (index: number, more: object = {}) => ({
  partitions: [],
  ...device,
  index,
  numaNode: index < 2 ? 0 : 1,
  pciAddress: `0000:1${index}:00.0`,
  ...more,
})

describe('GRES', () => {
  const node = (numaCores: Record<string, string> | null, pci: object[] = []) => ({
    ...{ name: 'n1', host: '10.0.0.1', cpuSockets: 2, cpuCores: 16, cpuThreads: 32, memoryBytes: 2 ** 36, labels: {} },
    facts: {
      ...discoveryFixture({}, { pci: pci as never }).host,
      cpu: { model: null, sockets: 2, cores: 16, threads: 32, numaCores },
    },
  })
  const gpus = [0, 1, 2, 3].map((index) => gpu(index))
  const linesOf = (...given: Parameters<typeof configNodeOf>) => gresLines([configNodeOf(...given)!])

  test('have the cores of their NUMA node', () => {
    expect(linesOf(node({ 0: '0-7', 1: '8-15' }), gpus)).toEqual([
      'NodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=0-7',
      'NodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=8-15',
    ])
    expect(nodeLine(configNodeOf(node({ 0: '0-7', 1: '8-15' }), gpus)!)).toContain(' Gres=gpu:h100:4 ')
  })

  test.each([
    ['one NUMA node', { 0: '0-15' }],
    ['cores that slurm.conf does not get', { 0: '0-7', 1: '8-31' }],
    ['an unknown topology', null],
  ])('have no cores with %s', (_, cores) => {
    expect(linesOf(node(cores as Record<string, string> | null), gpus)).toEqual([
      'NodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[0-3]',
    ])
  })

  test('have no cores without a NUMA node', () => {
    expect(linesOf(node({ 0: '0-7', 1: '8-15' }), [gpu(0, { numaNode: null })])[0]).not.toContain('Cores')
  })

  test("have the driver's device numbers", () => {
    const pci = [0, 1].map((index) => ({ address: `0000:1${index}:00.0`, deviceMinor: 1 - index }))
    expect(gresOf(gpus.slice(0, 1), node(null, pci).facts)).toMatchObject([{ files: ['/dev/nvidia1'] }])
  })

  test('are MIG devices instead of their GPU, when their files are known', () => {
    const files = (cap: number) => ['/dev/nvidia1', `/dev/nvidia-caps/nvidia-cap${cap}`, `/dev/nvidia-caps/nvidia-cap${cap + 1}`]
    const mig = (profile: string, cap: number | null) => ({
      ...{ kind: 'mig' as const, uuid: null, profile, index: 0, parentUuid: null, memoryTotal: null },
      ...(cap === null ? {} : { deviceFiles: files(cap) }),
    })
    const partitions = [mig('1g.10gb', 12), mig('1g.10gb', 21), mig('2g.20gb', null)]
    const found = gresOf([gpu(0), gpu(1, { partitionMode: 'MIG enabled', partitions }), gpu(2, { partitionMode: 'MIG enabled' })])
    expect(found).toEqual([
      { name: 'gpu', type: 'h100', count: 1, files: ['/dev/nvidia0'], cores: null },
      { name: 'gpu', type: '1g.10gb', count: 2, files: [...files(12), ...files(21)], cores: null },
    ])
    const shared = withShards({ ...configNodeOf(node(null), [])!, gres: found }, 4)
    expect(gresLines([shared]).at(-1)).toBe('NodeName=gpu1 Name=shard Count=4 File=/dev/nvidia0')
  })
})
