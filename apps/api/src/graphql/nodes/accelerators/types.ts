import type { schema } from '@muster/core/registry'
import { builder } from '../../../builder.ts'
import { connectionTypes } from '../../shared/connections.ts'
import { AcceleratorHealth, AcceleratorSource, DeviceType, IdentificationConfidence, PartitionKind } from './enums.ts'

type Row = typeof schema.accelerators.$inferSelect

const Partition = builder.objectRef<Row['partitions'][number]>('AcceleratorPartition').implement({
  description: 'Partition of an accelerator that workloads see as a separate device.',
  fields: (t) => ({
    kind: t.expose('kind', { type: PartitionKind, description: 'Partitioning technology.' }),
    index: t.exposeInt('index', { nullable: true, description: 'Number on the device.' }),
    uuid: t.exposeString('uuid', { nullable: true, description: 'UUID of the partition; null when the vendor assigns none.' }),
    profile: t.exposeString('profile', { nullable: true, description: 'Profile name of the vendor, for example `1g.10gb`.' }),
    memoryTotalBytes: t.expose('memoryTotal', {
      type: 'BigInt',
      nullable: true,
      description: 'Memory in bytes, part of the memory of the accelerator.',
    }),
    parentUuid: t.exposeString('parentUuid', { nullable: true, description: 'UUID of the accelerator.' }),
  }),
})

const EccErrors = builder.objectRef<NonNullable<Row['eccErrors']>>('EccErrors').implement({
  description: 'Memory errors of an accelerator. A count is null when the vendor tool did not report it.',
  fields: (t) => {
    const count = (name: keyof NonNullable<Row['eccErrors']>, description: string) =>
      t.expose(name, { type: 'BigInt', nullable: true, description })
    return {
      correctedVolatile: count('correctedVolatile', 'Corrected errors since the driver was loaded.'),
      uncorrectedVolatile: count('uncorrectedVolatile', 'Uncorrected errors since the driver was loaded.'),
      correctedAggregate: count('correctedAggregate', 'Corrected errors over the life of the device.'),
      uncorrectedAggregate: count('uncorrectedAggregate', 'Uncorrected errors over the life of the device.'),
    }
  },
})

export const Accelerator = builder.drizzleNode('accelerators', {
  name: 'Accelerator',
  description: 'A GPU or NPU of a node. A device keeps its ID across discoveries.',
  select: { columns: { id: true } },
  id: { column: (a) => a.id, description: 'Accelerator ID.' },
  fields: (t) => ({
    node: t.relation('node', { description: 'Node of the accelerator.' }),
    deviceType: t.expose('deviceType', { type: DeviceType, description: 'Type.' }),
    vendor: t.exposeString('vendor', { description: 'Vendor in lower case, for example `nvidia`.' }),
    model: t.exposeString('model', { nullable: true, description: 'Model as the vendor tool or the PCI database names it.' }),
    index: t.exposeInt('index', { description: 'Number on the node, from 0, as in the vendor tool.' }),
    uuid: t.exposeString('uuid', { nullable: true, description: 'UUID that the vendor assigned.' }),
    serial: t.exposeString('serial', {
      nullable: true,
      description: 'Serial number. Devices of one board can share it.',
    }),
    slot: t.exposeString('slot', {
      nullable: true,
      description: 'Card and chip of an Ascend device; module number of other devices.',
    }),
    pciAddress: t.exposeString('pciAddress', { nullable: true, description: 'PCI address with domain, `0000:1b:00.0`.' }),
    memoryTotalBytes: t.expose('memoryTotal', {
      type: 'BigInt',
      nullable: true,
      description: 'Total memory in bytes; null when the vendor tool did not report it.',
    }),
    memoryUsedBytes: t.expose('memoryUsed', {
      type: 'BigInt',
      nullable: true,
      description: 'Used memory in bytes at the last discovery.',
    }),
    isMemoryUnified: t.exposeBoolean('isMemoryUnified', {
      description: 'Whether the device uses the memory of the host; `memoryTotalBytes` is null then.',
    }),
    driverVersion: t.exposeString('driverVersion', { nullable: true, description: 'Version of the kernel driver.' }),
    firmwareVersion: t.exposeString('firmwareVersion', { nullable: true, description: 'Version of the firmware or VBIOS.' }),
    toolkitVersion: t.exposeString('toolkitVersion', {
      nullable: true,
      description: 'Version of CUDA, ROCm, oneAPI, CANN or HGGC.',
    }),
    computeCapability: t.exposeString('computeCapability', {
      nullable: true,
      description: 'Compute capability or architecture, for example `9.0` or `gfx942`.',
    }),
    partitionMode: t.exposeString('partitionMode', {
      nullable: true,
      description: 'Partition mode, for example `MIG enabled` or `SPX/NPS1`.',
    }),
    partitions: t.field({
      type: [Partition],
      select: { columns: { partitions: true } },
      description: 'Partitions; empty for an undivided device. At most as many as the vendor supports per device.',
      resolve: (a) => a.partitions,
    }),
    numaNode: t.exposeInt('numaNode', { nullable: true, description: 'Nearest NUMA node.' }),
    interconnect: t.exposeString('interconnect', {
      nullable: true,
      description: 'Links to peer devices: NVLink, xGMI, Xe Link, HCCS.',
    }),
    isEccEnabled: t.boolean({
      nullable: true,
      description: 'Whether ECC is enabled; null when the vendor tool did not report it.',
      select: { columns: { eccMode: true } },
      resolve: (a) => (a.eccMode === null ? null : a.eccMode === 'enabled'),
    }),
    eccErrors: t.field({
      type: EccErrors,
      nullable: true,
      description: 'Memory errors; null when the vendor tool reports none of the counts.',
      select: { columns: { eccErrors: true } },
      resolve: (a) => a.eccErrors,
    }),
    temperatureCelsius: t.exposeFloat('temperature', {
      nullable: true,
      description: 'Temperature at the last discovery, in °C.',
    }),
    powerWatts: t.exposeFloat('power', { nullable: true, description: 'Power draw at the last discovery, in W.' }),
    utilizationPercent: t.exposeFloat('utilization', {
      nullable: true,
      description: 'Utilization at the last discovery, in percent.',
    }),
    health: t.expose('health', { type: AcceleratorHealth, description: 'Health at the last discovery.' }),
    healthReason: t.exposeString('healthReason', {
      nullable: true,
      description: 'Reason that the vendor tool gives for a health other than OK.',
    }),
    confidence: t.expose('confidence', { type: IdentificationConfidence, description: 'Confidence in the identification.' }),
    source: t.expose('source', { type: AcceleratorSource, description: 'Source of the data.' }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'Time of the first discovery with this device.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'Time of the last discovery with this device.' }),
  }),
})

export const acceleratorConnection = connectionTypes(Accelerator, 'Accelerator', 'accelerators')
