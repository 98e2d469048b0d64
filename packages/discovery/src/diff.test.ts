import { expect, it } from 'vitest'
import { readProfileFile } from '../test/node.ts'
import { type Accelerator, type Discovery, diffDiscoveries, parseNvidia, parseProbe } from './index.ts'

const empty = parseProbe(
  'muster-probe/1 abcdef0123456789\nabcdef0123456789 + tools\nnpu-smi -\nabcdef0123456789 -\nabcdef0123456789 end ms=1\n',
)
const { accelerators } = parseNvidia({ xml: readProfileFile('h100x8/nvidia-smi/-q_-x.txt') })
const seen = (change: (device: Accelerator, index: number) => Partial<Accelerator> | null = () => ({})): Discovery => ({
  ...structuredClone(empty),
  accelerators: accelerators.flatMap((device, index) => {
    const part = change(device, index)
    return part === null ? [] : [{ ...device, ...part }]
  }),
})
const labels = (before: Discovery, after: Discovery) => diffDiscoveries(before, after).map((change) => change.label)

it('ignores volatile values by default', () => {
  const later = seen((_, index) => ({ temperature: 80 + index, power: 600, utilization: 99, memoryUsed: 7 }))
  expect(diffDiscoveries(seen(), later)).toEqual([])
  expect(diffDiscoveries(seen(), later, { volatile: true })).toHaveLength(8 * 4)
})

it('reports removed and added accelerators', () => {
  const without = seen((_, index) => (index === 3 ? null : {}))
  expect(labels(seen(), without)).toEqual([`accelerator 3 removed (${accelerators[3]?.uuid})`])
  expect(labels(without, seen())).toEqual([`accelerator 3 added (${accelerators[3]?.uuid})`])
})

it('does not report renumbering as a hardware change', () => {
  const renumbered = seen((_, index) => ({ index: 7 - index }))
  expect(diffDiscoveries(seen(), renumbered).every((change) => change.kind === 'changed' && change.path.endsWith('.index'))).toBe(
    true,
  )
})

it('reports changed versions and a replaced card', () => {
  const after = seen((_, index) => (index === 0 ? { driverVersion: '560.35.03' } : index === 1 ? { uuid: 'GPU-new' } : {}))
  expect(labels(seen(), after)).toEqual([
    'accelerator 0: driver version 550.54.15 -> 560.35.03',
    `accelerator 1 at 0000:43:00.0 was replaced: ${accelerators[1]?.uuid} -> GPU-new`,
  ])
})

it('matches a device without UUID by its PCI address', () => {
  const broken = seen((_, index) =>
    index === 2 ? { uuid: null, serial: null, source: 'pci', health: 'unknown', temperature: null } : {},
  )
  const changes = diffDiscoveries(seen(), broken)
  expect(changes.map((change) => change.kind)).not.toContain('removed')
  expect(changes.map((change) => change.label)).toContain('accelerator 2: health ok -> unknown')
})

it('compares two nodes by position and ignores identifiers', () => {
  const slices = (profiles: string[], node: string) =>
    profiles.map((profile, index) => ({
      kind: 'mig' as const,
      uuid: `MIG-${node}${index}`,
      parentUuid: `GPU-${node}0`,
      profile,
      index,
      memoryTotal: 40 * 1024 ** 3,
    }))
  const node = (name: string, profiles: string[]) => {
    const one = seen((_, index) => ({
      uuid: `GPU-${name}${index}`,
      serial: `S${name}${index}`,
      // Another chassis: the first GPU has another PCI address.
      ...(index === 0 ? { pciAddress: name === 'a' ? '0000:01:00.0' : '0001:01:00.0' } : {}),
      ...(index === 1
        ? { partitionMode: profiles.length ? 'MIG enabled' : 'MIG disabled', partitions: slices(profiles, name) }
        : {}),
    }))
    Object.assign(one.host, { hostname: name, bootId: name, machineId: name, kernel: name === 'a' ? '5.15' : '6.8' })
    one.host.dmi.serial = name
    return one
  }
  const difference = (from: string[], to: string[]) =>
    diffDiscoveries(node('a', from), node('b', to), { acrossNodes: true }).map((change) => change.label)
  expect(difference(['3g.40gb', '3g.40gb'], ['3g.40gb'])).toEqual([
    'accelerator 1: partition 3g.40gb 1 removed',
    'accelerator 0: pci address 0000:01:00.0 -> 0001:01:00.0',
    'kernel 5.15 -> 6.8',
  ])
  expect(difference([], ['3g.40gb'])).toContain('accelerator 1: partition mode MIG disabled -> MIG enabled')
})

it('distinguishes chips at one PCI address by slot', () => {
  const duo = (second: Partial<Accelerator>) => ({
    ...structuredClone(empty),
    accelerators: [0, 1].map((chip) => ({
      ...(accelerators[0] as Accelerator),
      uuid: null,
      serial: null,
      vendor: 'huawei',
      index: chip,
      pciAddress: '0000:01:00.0',
      slot: `32/${chip}`,
      ...(chip ? second : {}),
    })),
  })
  expect(labels(duo({}), duo({ firmwareVersion: '9' }))).toEqual(['accelerator 1: firmware version 96.00.74.00.11 -> 9'])
})

it('compares host facts and tools', () => {
  const nic = {
    mac: null,
    state: null,
    speedMbps: null,
    mtu: null,
    driver: null,
    pciAddress: null,
    numaNode: null,
    addresses: [],
  }
  const before = seen()
  const after = structuredClone(before)
  before.host.kernel = '5.15'
  after.host.kernel = '6.8'
  before.host.memoryBytes = 2 ** 40
  after.host.memoryBytes = 2 ** 39
  after.host.disks = [{ name: 'sdb', sizeBytes: 1, rotational: true, model: null, serial: null }]
  after.host.nics = [{ ...nic, name: 'bond0.7' }]
  before.host.uptimeSeconds = 10
  const tool = after.tools.find((one) => one.tool === 'nvidia-smi')
  Object.assign(tool ?? {}, { state: 'FAILED', reason: 'boom' })
  expect(labels(before, after)).toEqual([
    'kernel 5.15 -> 6.8',
    'memory 1024 GiB -> 512 GiB',
    'disk sdb added',
    'nic bond0.7 added',
    'tool nvidia-smi state ABSENT -> FAILED',
    'tool nvidia-smi reason unknown -> boom',
  ])
})
