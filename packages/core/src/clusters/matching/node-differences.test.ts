import { expect, test } from 'vitest'
import { slurmNode } from '../../testing/slurm-fixture.ts'
import { nodeDifferences } from './node-differences.ts'

const MIB = 1024 ** 2
const machine = { discoveredAt: new Date(), cpuThreads: 8, cpuCores: 8, memoryBytes: 32_000 * MIB }
const device = { model: 'NVIDIA H100 80GB HBM3', health: 'ok', partitions: [], index: 0 } as const
const devices = [0, 1, 2, 3].map((index) => ({ ...device, partitions: [], index }))
const noGpus = { gres: [] }

test('finds none on a node as it is configured, and none before its discovery', () => {
  expect(nodeDifferences(slurmNode('n1'), machine, devices)).toEqual([])
  expect(nodeDifferences(slurmNode('n1', { cpus: 1 }), { ...machine, discoveredAt: null }, [])).toEqual([])
})

test.each([
  [2_000_000, 1_000_000, '1.9 TiB', '977 GiB'],
  [65_536, 32_768, '64 GiB', '32 GiB'],
  // Rounded sizes that are equal would show no difference.
  [2_000_000, 1_999_000, '1.9 TiB (2000000 MiB)', '1.9 TiB (1999000 MiB)'],
])('shows %d MiB of memory instead of %d in readable units', (memory, found, configured, discovered) => {
  expect(nodeDifferences(slurmNode('n1', { ...noGpus, memory }), { ...machine, memoryBytes: found * MIB }, [])).toEqual([
    { kind: 'MEMORY', configured, discovered },
  ])
})

test.each([
  [1, '1 partition'],
  [2, '2 partitions'],
])('counts %d MIG partitions', (count, discovered) => {
  const partitions = Array.from({ length: count }, () => ({ profile: '1g.10gb' })) as never[]
  expect(nodeDifferences(slurmNode('n1', noGpus), machine, [{ ...device, partitions }])).toEqual([
    { kind: 'GPU_COUNT', configured: 'none', discovered },
  ])
})
