import { z } from 'zod'

/** Version of the shape below. A stored discovery of another version is read with care, never diffed blindly. */
export const SCHEMA_VERSION = 1

const text = z.string().nullable()
const count = z.number().int().nonnegative().nullable()
const quantity = z.number().nullable()

export const DeviceType = z.enum(['nvidia_gpu', 'amd_gpu', 'intel_gpu', 'huawei_npu', 'thead_npu', 'other'])
export type DeviceType = z.infer<typeof DeviceType>

export const Health = z.enum(['ok', 'warning', 'critical', 'lost', 'unknown'])
export type Health = z.infer<typeof Health>

/** A slice of an accelerator. Its memory is part of the parent's: never add the two. */
export const Partition = z.object({
  kind: z.enum(['mig', 'xcp', 'vnpu']),
  uuid: text,
  /** The vendor's name of the profile: `3g.40gb`, `CPX`, `vir05_1c_16g`. */
  profile: text,
  index: count,
  parentUuid: text,
  memoryTotal: count.describe('bytes'),
})
export type Partition = z.infer<typeof Partition>

/** Volatile = since the driver was loaded; aggregate = over the life of the device. */
export const EccErrors = z.object({
  correctedVolatile: count,
  uncorrectedVolatile: count,
  correctedAggregate: count,
  uncorrectedAggregate: count,
})
export type EccErrors = z.infer<typeof EccErrors>

/** One physical device. null always means "not told", 0 is a real zero. */
export const Accelerator = z.object({
  deviceType: DeviceType,
  vendor: z.string().describe('nvidia, amd, intel, huawei, thead, or the name of another vendor'),
  model: text,
  index: count.describe("the tool's own number of the device; it can change with every boot"),
  uuid: text,
  serial: text.describe('can be shared by the devices of one board'),
  slot: text.describe('card/chip of an Ascend device, OAM or module number of others'),
  pciAddress: text.describe('dddd:bb:dd.f, lower case; chips of one card can share it'),
  memoryTotal: count.describe('bytes'),
  memoryUsed: count.describe('bytes'),
  memoryUnified: z.boolean().describe('the device shares the memory of the host, so that memoryTotal is null'),
  driverVersion: text,
  firmwareVersion: text,
  toolkitVersion: text.describe('CUDA, ROCm, oneAPI, CANN or HGGC; of the node where installed, else what the driver supports'),
  computeCapability: text,
  partitionMode: text.describe('MIG enabled or disabled; SPX/NPS1 and the like'),
  partitions: z.array(Partition),
  numaNode: count,
  interconnect: text.describe('how it reaches its peers: "NV18 to 7 peers"'),
  eccMode: z.enum(['enabled', 'disabled']).nullable(),
  eccErrors: EccErrors.nullable(),
  temperature: quantity.describe('°C'),
  power: quantity.describe('W'),
  utilisation: quantity.describe('%'),
  health: Health,
  healthReason: text,
  source: z.enum(['tool', 'pci']),
  confidence: z.enum(['high', 'low']).describe('low where only PCI ids speak for it'),
})
export type Accelerator = z.infer<typeof Accelerator>

export const ToolState = z.enum(['ABSENT', 'OK', 'FAILED', 'FOREIGN', 'TIMED_OUT'])
export type ToolState = z.infer<typeof ToolState>

export const ToolReport = z.object({
  tool: z.string(),
  state: ToolState,
  reason: text.describe('for people: why it is not OK'),
  path: text,
  version: text,
  durationMs: count,
  deviceCount: count.describe('null unless the tool answered; a broken tool never counts 0 devices'),
})
export type ToolReport = z.infer<typeof ToolReport>

const Disk = z.object({ name: z.string(), sizeBytes: count, rotational: z.boolean().nullable(), model: text, serial: text })
const Mount = z.object({ device: z.string(), path: z.string(), type: text, sizeBytes: count, availableBytes: count })
const Nic = z.object({
  name: z.string(),
  mac: text,
  state: text,
  speedMbps: count,
  mtu: count,
  driver: text,
  pciAddress: text,
  numaNode: count,
  addresses: z.array(z.string()),
})
const InfinibandPort = z.object({
  device: z.string(),
  port: count,
  state: text,
  physicalState: text,
  rate: text,
  linkLayer: text,
  lid: text,
  guid: text,
  firmware: text,
  type: text,
  pciAddress: text,
  numaNode: count,
})
export const PciDevice = z.object({
  address: z.string(),
  vendorId: z.string(),
  deviceId: z.string(),
  classId: z.string(),
  subsystem: text,
  revision: text,
  driver: text,
  numaNode: count,
  linkSpeed: text,
  linkWidth: count,
})
export type PciDevice = z.infer<typeof PciDevice>

export const HostFacts = z.object({
  hostname: text,
  fqdn: text,
  arch: text,
  os: z.object({ id: text, versionId: text, name: text, family: text }),
  kernel: text,
  machineId: text,
  bootId: text,
  uptimeSeconds: quantity,
  cpu: z.object({ model: text, sockets: count, cores: count, threads: count }),
  memoryBytes: count,
  swapBytes: count,
  numaNodes: count,
  disks: z.array(Disk),
  mounts: z.array(Mount),
  nics: z.array(Nic),
  primaryAddress: text,
  infiniband: z.array(InfinibandPort),
  pci: z.array(PciDevice).describe('accelerators and display devices'),
  python: z.object({ path: text, version: text }),
  dmi: z.object({ vendor: text, product: text, serial: text, uuid: text, board: text, bios: text }),
  virtualization: text.describe('kvm, vmware, …, container; null on bare metal'),
  toolkits: z.record(z.string(), z.string()).describe('cuda, rocm, oneapi, cann, hggc, and the versions of kernel drivers'),
})
export type HostFacts = z.infer<typeof HostFacts>

/** What one probe of a node told. */
export const Discovery = z.object({
  schemaVersion: z.number().int(),
  host: HostFacts,
  tools: z.array(ToolReport),
  accelerators: z.array(Accelerator),
  warnings: z.array(z.string()),
  truncated: z.boolean().describe('the probe was cut short; what is missing was not necessarily absent'),
  durationMs: count,
})
export type Discovery = z.infer<typeof Discovery>
