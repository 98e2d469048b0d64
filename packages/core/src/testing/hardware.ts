import { createHash } from 'node:crypto'
import type { Accelerator, Discovery, ToolName, ToolReport } from '@muster/discovery'
import { newId } from '../kernel/db/columns.ts'
import type { accelerators, ComputeNode, computeNodes } from '../nodes/tables.ts'
import { acceleratorFixture, discoveryFixture } from './discovery-fixture.ts'

const GIB = 1024 ** 3

type Model = Pick<Accelerator, 'deviceType' | 'vendor' | 'model' | 'driverVersion'> & {
  count: number
  memory: number
  tool: ToolName
}
const MODELS: Model[] = [
  model('nvidia_gpu', 'nvidia', 'NVIDIA H100 80GB HBM3', 8, 80, 'nvidia-smi', '570.124.06'),
  model('amd_gpu', 'amd', 'AMD Instinct MI300X', 8, 192, 'amd-smi', '6.12.12'),
  model('intel_gpu', 'intel', 'Intel Data Center GPU Max 1550', 4, 128, 'xpu-smi', '1.25.1'),
  model('huawei_npu', 'huawei', 'Ascend 910B3', 8, 64, 'npu-smi', '24.1.0'),
  model('thead_npu', 'thead', 'PPU-ZW810E', 16, 96, 'ppu-smi', '1.5.0'),
]

function model(
  deviceType: Accelerator['deviceType'],
  vendor: Accelerator['vendor'],
  name: string,
  count: number,
  memoryGib: number,
  tool: ToolName,
  driverVersion: string,
): Model {
  return { deviceType, vendor, model: name, count, memory: memoryGib * GIB, tool, driverVersion }
}

/** The model of the i-th node: each vendor in turn, every sixth node has no accelerators. */
const modelOf = (i: number): Model | null => MODELS[i % (MODELS.length + 1)] ?? null

/** Columns that a discovery of the i-th node fills, without its facts. */
export function hardwareOf(i: number): Partial<typeof computeNodes.$inferInsert> {
  return {
    arch: modelOf(i)?.vendor === 'huawei' ? 'aarch64' : 'x86_64',
    osName: 'Ubuntu 24.04.3 LTS',
    osId: 'ubuntu',
    osVersion: '24.04',
    kernel: '6.8.0-60-generic',
    cpuModel: 'AMD EPYC 9654 96-Core Processor',
    cpuSockets: 2,
    cpuCores: 192,
    cpuThreads: 384,
    memoryBytes: 1536 * GIB,
    bootedAt: new Date(Date.now() - 1e9),
    discoveredAt: new Date(Date.now() - 600_000),
  }
}

/** Accelerators of the i-th node, at most `limit`; one in the middle runs warm, others differ in load. */
export function acceleratorsOf(i: number, limit = 16): Accelerator[] {
  const found = modelOf(i)
  return Array.from({ length: Math.min(found?.count ?? 0, limit) }, (_, index) =>
    acceleratorFixture(index, {
      deviceType: found!.deviceType,
      vendor: found!.vendor,
      model: found!.model,
      uuid: uuidOf(i, index),
      serial: `1322${i}${index}`,
      memoryTotal: found!.memory,
      memoryUsed: Math.round((found!.memory * (index + 1)) / 20),
      driverVersion: found!.driverVersion,
      numaNode: index > 3 ? 1 : 0,
      temperature: 34 + 3 * index,
      power: 120 + 35 * index,
      utilization: Math.min(100, 12 * index),
      interconnect: 'NVLink 18x',
      eccErrors: { correctedVolatile: 0, uncorrectedVolatile: 0, correctedAggregate: 3, uncorrectedAggregate: 0 },
      health: index === 5 && i % 7 === 0 ? 'warning' : 'ok',
      healthReason: index === 5 && i % 7 === 0 ? 'The device throttles because of its temperature.' : null,
      partitions:
        index === 0 && found!.vendor === 'nvidia'
          ? [
              {
                kind: 'mig',
                index: 0,
                uuid: `MIG-${i}`,
                profile: '1g.10gb',
                memoryTotal: 10 * GIB,
                parentUuid: uuidOf(i, index),
              },
            ]
          : [],
    }),
  )
}

const uuidOf = (i: number, index: number) =>
  `GPU-${createHash('sha256')
    .update(`${i} ${index}`)
    .digest('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')}`

/** Result of a discovery of the i-th node, with a report of each vendor's tool. */
export function discoveryOf(i: number, { name }: Pick<ComputeNode, 'name'>): Discovery {
  const own = modelOf(i)
  const tools: ToolReport[] = MODELS.map(({ tool, driverVersion, count }) =>
    tool === own?.tool
      ? { tool, state: 'OK', reason: null, path: `/usr/bin/${tool}`, version: driverVersion, durationMs: 240, deviceCount: count }
      : { tool, state: 'ABSENT', reason: null, path: null, version: null, durationMs: null, deviceCount: null },
  )
  const nic = { name: 'eth0', mac: '02:00:5e:10:00:01', state: 'up', speedMbps: 100_000, mtu: 9000, driver: 'mlx5_core' }
  return discoveryFixture(
    { tools, accelerators: acceleratorsOf(i) },
    {
      hostname: name,
      nics: [{ ...nic, pciAddress: '0000:41:00.0', numaNode: 0, addresses: ['10.1.2.3/24'] }],
      disks: [{ name: 'nvme0n1', sizeBytes: 3_840_755_982_336, rotational: false, model: 'PM9A3', serial: `S6${i}` }],
    },
  )
}

/** Rows of `accelerators` for the i-th node. */
export function acceleratorRows(
  { id: nodeId, tenantId }: Pick<ComputeNode, 'id' | 'tenantId'>,
  i: number,
  limit?: number,
): (typeof accelerators.$inferInsert)[] {
  return acceleratorsOf(i, limit).map(({ memoryUnified, uuid, ...device }, index) => ({
    ...device,
    index,
    id: newId(),
    tenantId,
    nodeId,
    uuid,
    identity: `uuid:${uuid}`,
    isMemoryUnified: memoryUnified,
    firstSeenAt: new Date(Date.now() - 1e9),
    lastSeenAt: new Date(Date.now() - 600_000),
  }))
}
