import { z } from 'zod'

/** Version of the schema below. Discoveries of different versions must not be compared directly. */
export const SCHEMA_VERSION = 1

const text = z.string().nullable()
const count = z.number().int().nonnegative().nullable()
const quantity = z.number().nullable()

export const DeviceType = z.enum(['nvidia_gpu', 'amd_gpu', 'intel_gpu', 'huawei_npu', 'thead_npu', 'other'])
export type DeviceType = z.infer<typeof DeviceType>

export const Health = z.enum(['ok', 'warning', 'critical', 'lost', 'unknown'])
export type Health = z.infer<typeof Health>

/** Partition of an accelerator. Its memory is part of the parent's memory and must not be added to it. */
export const Partition = z.object({
  kind: z.enum(['mig', 'xcp', 'vnpu']),
  uuid: text,
  /** Vendor's profile name: `3g.40gb`, `CPX`, `vir05_1c_16g`. */
  profile: text,
  index: count,
  parentUuid: text,
  memoryTotal: count.describe('bytes'),
  instance: text.optional().describe('GPU instance and compute instance of a MIG device: gi1/ci0'),
  deviceFiles: z.array(z.string()).optional().describe('device files that a process needs, when known'),
})
export type Partition = z.infer<typeof Partition>

/** Volatile: since the driver was loaded. Aggregate: since the device was manufactured. */
export const EccErrors = z.object({
  correctedVolatile: count,
  uncorrectedVolatile: count,
  correctedAggregate: count,
  uncorrectedAggregate: count,
})
export type EccErrors = z.infer<typeof EccErrors>

/** One physical device. null means not reported; 0 is a measured value. */
export const Accelerator = z.object({
  deviceType: DeviceType,
  vendor: z.string().describe('nvidia, amd, intel, huawei, thead, or the name of another vendor'),
  model: text,
  index: count.describe('device number of the vendor tool; can change at every boot'),
  uuid: text,
  serial: text.describe('can be shared by devices of one board'),
  slot: text.describe('card/chip of an Ascend device, OAM or module number of others'),
  pciAddress: text.describe('dddd:bb:dd.f in lower case; can be shared by chips of one card'),
  memoryTotal: count.describe('bytes'),
  memoryUsed: count.describe('bytes'),
  memoryUnified: z.boolean().describe('the device uses host memory; memoryTotal is null'),
  driverVersion: text,
  firmwareVersion: text,
  toolkitVersion: text.describe(
    'CUDA, ROCm, oneAPI, CANN or HGGC; the installed version, else the version that the driver supports',
  ),
  computeCapability: text,
  partitionMode: text.describe('MIG enabled, MIG disabled, or compute/memory mode such as SPX/NPS1'),
  partitions: z.array(Partition),
  numaNode: count,
  interconnect: text.describe('links to peers, such as "NV18 to 7 peers"'),
  eccMode: z.enum(['enabled', 'disabled']).nullable(),
  eccErrors: EccErrors.nullable(),
  temperature: quantity.describe('°C'),
  power: quantity.describe('W'),
  utilization: quantity.describe('%'),
  health: Health,
  healthReason: text,
  source: z.enum(['tool', 'pci']),
  confidence: z.enum(['high', 'low']).describe('low when only PCI IDs identify the device'),
})
export type Accelerator = z.infer<typeof Accelerator>

export const ToolState = z.enum(['ABSENT', 'OK', 'FAILED', 'FOREIGN', 'TIMED_OUT'])
export type ToolState = z.infer<typeof ToolState>

export const ToolName = z.enum(['nvidia-smi', 'amd-smi', 'rocm-smi', 'xpu-smi', 'npu-smi', 'ppu-smi'])
export type ToolName = z.infer<typeof ToolName>

export const ToolReport = z.object({
  tool: ToolName,
  state: ToolState,
  reason: text.describe('human-readable reason for a state other than OK'),
  path: text,
  version: text,
  durationMs: count,
  deviceCount: count.describe('null unless the tool responded; a failed tool never reports 0 devices'),
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
  deviceMinor: count.describe('N of /dev/nvidiaN, from the NVIDIA driver'),
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
  cpu: z.object({
    model: text,
    sockets: count,
    cores: count,
    threads: count,
    numaCores: z
      .record(z.string(), z.string())
      .nullable()
      .describe('logical core numbers by NUMA node, such as 0-31; threads do not count'),
  }),
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
  virtualization: text.describe('kvm, vmware, container, …; null on bare metal'),
  toolkits: z.record(z.string(), z.string()).describe('versions of cuda, rocm, oneapi, cann, hggc and kernel drivers'),
})
export type HostFacts = z.infer<typeof HostFacts>

/** Parsed result of one probe. */
export const Discovery = z.object({
  schemaVersion: z.number().int(),
  host: HostFacts,
  tools: z.array(ToolReport),
  accelerators: z.array(Accelerator),
  warnings: z.array(z.string()),
  truncated: z.boolean().describe('the probe output is incomplete; missing items may exist on the node'),
  durationMs: count,
})
export type Discovery = z.infer<typeof Discovery>
