import type { schema } from '@muster/core/registry'
import { builder } from '../../../builder.ts'
import { connectionTypes } from '../../shared/connections.ts'
import { AcceleratorHealth, AcceleratorSource, DeviceType } from './enums.ts'

const Partition = builder
  .objectRef<(typeof schema.accelerators.$inferSelect)['partitions'][number]>('AcceleratorPartition')
  .implement({
    description: 'A part of an accelerator that workloads see as a device of their own.',
    fields: (t) => ({
      kind: t.exposeString('kind', { description: 'mig, xcp or vnpu.' }),
      index: t.exposeInt('index', { nullable: true, description: 'Its number on the device.' }),
      uuid: t.exposeString('uuid', { nullable: true, description: 'Its own id, if the vendor gives one.' }),
      profile: t.exposeString('profile', {
        nullable: true,
        description: "The vendor's name of its shape, for example `1g.10gb`.",
      }),
      memoryTotal: t.expose('memoryTotal', { type: 'BigInt', nullable: true, description: 'Its memory in bytes.' }),
      parentUuid: t.exposeString('parentUuid', { nullable: true, description: 'The uuid of the accelerator it is a part of.' }),
    }),
  })

export const Accelerator = builder.drizzleNode('accelerators', {
  name: 'Accelerator',
  description: 'One GPU or NPU of a node. The same device keeps its id from one discovery to the next.',
  select: { columns: { id: true } },
  id: { column: (a) => a.id },
  fields: (t) => ({
    node: t.relation('node', { description: 'The node it is in.' }),
    deviceType: t.expose('deviceType', { type: DeviceType, description: 'Its kind.' }),
    vendor: t.exposeString('vendor', { description: 'nvidia, amd, intel, huawei, thead or another name in lower case.' }),
    model: t.exposeString('model', { nullable: true, description: "Its name as the vendor's tool or the PCI database says it." }),
    index: t.exposeInt('index', { description: 'Its number on the node, from 0, as its tool counts.' }),
    uuid: t.exposeString('uuid', { nullable: true, description: "The vendor's id of the device." }),
    serial: t.exposeString('serial', {
      nullable: true,
      description: 'Its serial number; the devices of one board can share it.',
    }),
    slot: t.exposeString('slot', { nullable: true, description: 'Card and chip of an Ascend device, module number of others.' }),
    pciAddress: t.exposeString('pciAddress', { nullable: true, description: 'PCI address with domain: `0000:1b:00.0`.' }),
    memoryTotal: t.expose('memoryTotal', { type: 'BigInt', nullable: true, description: 'Its memory in bytes.' }),
    memoryUsed: t.expose('memoryUsed', {
      type: 'BigInt',
      nullable: true,
      description: 'Memory in use at the last discovery, in bytes.',
    }),
    isMemoryUnified: t.exposeBoolean('isMemoryUnified', {
      description: "Whether it shares the host's memory, so that `memoryTotal` is null.",
    }),
    driverVersion: t.exposeString('driverVersion', { nullable: true, description: 'Version of the kernel driver.' }),
    firmwareVersion: t.exposeString('firmwareVersion', { nullable: true, description: 'Version of the firmware or VBIOS.' }),
    toolkitVersion: t.exposeString('toolkitVersion', {
      nullable: true,
      description: 'Version of CUDA, ROCm, oneAPI, CANN or HGGC.',
    }),
    computeCapability: t.exposeString('computeCapability', {
      nullable: true,
      description: 'What the device can execute: `9.0`, `gfx942`.',
    }),
    partitionMode: t.exposeString('partitionMode', {
      nullable: true,
      description: 'MIG enabled or disabled; SPX/NPS1 and the like.',
    }),
    partitions: t.field({
      type: [Partition],
      select: { columns: { partitions: true } },
      description: 'Its parts (MIG, XCP, vNPU); empty when it is not divided.',
      resolve: (a) => a.partitions,
    }),
    numaNode: t.exposeInt('numaNode', { nullable: true, description: 'The NUMA node it is closest to.' }),
    interconnect: t.exposeString('interconnect', {
      nullable: true,
      description: 'How it is connected to its peers: NVLink, xGMI, Xe Link, HCCS.',
    }),
    eccMode: t.exposeString('eccMode', {
      nullable: true,
      description: 'Whether its memory is error corrected: enabled or disabled.',
    }),
    eccErrors: t.expose('eccErrors', {
      type: 'JSON',
      nullable: true,
      description:
        'Counts of memory errors: correctedVolatile, uncorrectedVolatile (since the driver was loaded), correctedAggregate, uncorrectedAggregate (over the life of the device).',
    }),
    temperature: t.exposeFloat('temperature', { nullable: true, description: 'At the last discovery, in °C.' }),
    power: t.exposeFloat('power', { nullable: true, description: 'Drawn at the last discovery, in W.' }),
    utilization: t.exposeFloat('utilization', { nullable: true, description: 'At the last discovery, in percent.' }),
    health: t.expose('health', { type: AcceleratorHealth, description: 'Its health at the last discovery.' }),
    healthReason: t.exposeString('healthReason', {
      nullable: true,
      description: 'Why its health is not ok, as its tool says it.',
    }),
    confidence: t.exposeString('confidence', { description: '`low` where only PCI ids speak for it, else `high`.' }),
    source: t.expose('source', { type: AcceleratorSource, description: 'Where the knowledge of it comes from.' }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When a discovery first found it.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When a discovery last found it.' }),
  }),
})

export const acceleratorConnection = connectionTypes(Accelerator, 'Accelerator', 'accelerators')
