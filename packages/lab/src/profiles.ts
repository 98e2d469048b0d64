/** Number of accelerators of each type that a correct discovery of the node reports. */
export type AcceleratorCounts = Partial<Record<'nvidia_gpu' | 'amd_gpu' | 'intel_gpu' | 'huawei_npu' | 'thead_npu', number>>

/** The hardware that a node simulates. */
export interface Profile {
  /** Prefix of node names when the lab is created from a count. */
  prefix: string
  cpu: { vendor: string; model: string; sockets: number; coresPerSocket: number; threadsPerCore: number }
  memoryGib: number
  accelerators: AcceleratorCounts
  /** The vendor's command-line tool, which tool faults replace. */
  tool: string | null
  /** The profile that provides captured output and PCI devices; default its own. */
  shows?: string
}

const xeon = {
  vendor: 'GenuineIntel',
  model: 'Intel(R) Xeon(R) Platinum 8480+',
  sockets: 2,
  coresPerSocket: 56,
  threadsPerCore: 2,
}
const epyc = {
  vendor: 'AuthenticAMD',
  model: 'AMD EPYC 9654 96-Core Processor',
  sockets: 2,
  coresPerSocket: 96,
  threadsPerCore: 2,
}
const icelake = { ...xeon, model: 'Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz', coresPerSocket: 32 }
const h100 = { prefix: 'gpu-h100', cpu: xeon, memoryGib: 2048, accelerators: { nvidia_gpu: 8 }, tool: 'nvidia-smi' }

export const profiles = {
  h100x8: h100,
  'h100x8-mig': h100,
  mi300x8: { prefix: 'gpu-mi300x', cpu: epyc, memoryGib: 2304, accelerators: { amd_gpu: 8 }, tool: 'amd-smi' },
  max1550x4: { prefix: 'gpu-max1550', cpu: xeon, memoryGib: 1024, accelerators: { intel_gpu: 4 }, tool: 'xpu-smi' },
  ascend910b3x8: { prefix: 'npu-910b', cpu: icelake, memoryGib: 1536, accelerators: { huawei_npu: 8 }, tool: 'npu-smi' },
  ppuzw810ex16: { prefix: 'ppu-zw810e', cpu: xeon, memoryGib: 2048, accelerators: { thead_npu: 16 }, tool: 'ppu-smi' },
  cpu: { prefix: 'cpu', cpu: epyc, memoryGib: 768, accelerators: {}, tool: null },
  'nvidia-mismatch': { ...h100, prefix: 'gpu-mismatch' },
  'hung-tool': { ...h100, prefix: 'gpu-hung', shows: 'h100x8' },
  'flood-tool': { ...h100, prefix: 'gpu-flood', shows: 'h100x8' },
} satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles

/** Returns a profile by name, typed as Profile. */
export function profileOf(name: ProfileName): Profile {
  return profiles[name]
}

/** The default nodes: every vendor, one H100 node with MIG slices, two nodes without accelerators. */
export const defaultNodes: { profile: ProfileName; behindBastion: boolean }[] = [
  { profile: 'h100x8', behindBastion: false },
  { profile: 'h100x8-mig', behindBastion: false },
  { profile: 'mi300x8', behindBastion: false },
  { profile: 'max1550x4', behindBastion: false },
  { profile: 'ascend910b3x8', behindBastion: true },
  { profile: 'ppuzw810ex16', behindBastion: true },
  { profile: 'cpu', behindBastion: false },
  { profile: 'cpu', behindBastion: false },
]
