import type { ConfigGres, ConfigNode } from '@muster/slurm/config'
import type { accelerators, ComputeNode } from '../nodes/tables.ts'

type Device = Pick<typeof accelerators.$inferSelect, 'deviceType' | 'model' | 'index' | 'partitions' | 'health'>

/** GRES name and device file of each type of accelerator. Slurm knows no files of other types. */
const DEVICES: Record<string, { name: string; file: (index: number) => string }> = {
  nvidia_gpu: { name: 'gpu', file: (index) => `/dev/nvidia${index}` },
  amd_gpu: { name: 'gpu', file: (index) => `/dev/dri/renderD${128 + index}` },
  intel_gpu: { name: 'gpu', file: (index) => `/dev/dri/renderD${128 + index}` },
  huawei_npu: { name: 'npu', file: (index) => `/dev/davinci${index}` },
}

const shortHostname = (node: Pick<ComputeNode, 'name' | 'facts'>): string =>
  (node.facts?.hostname ?? node.name).split('.')[0]!.toLowerCase()

/** `NVIDIA H100 80GB HBM3` is the type h100; null when the model has no such word. */
export function gresType(model: string | null): string | null {
  const word = /\b([a-z]{0,4}\d{2,4}[a-z]{0,2})\b(?!\s*gb)/i.exec((model ?? '').replace(/\b\d+\s*gb\b/gi, ''))?.[1]
  return word?.toLowerCase() ?? null
}

/** Whole accelerators as typed GRES. Partitioned ones (MIG) are left out: their files depend on the partition's numbers. */
export function gresOf(devices: readonly Device[]): ConfigGres[] {
  const known = devices.filter(({ deviceType, partitions }) => deviceType in DEVICES && partitions.length === 0)
  const groups = Map.groupBy(known, ({ deviceType, model }) => JSON.stringify([deviceType, gresType(model)]))
  return [...groups.values()].map((group) => {
    const { deviceType, model } = group[0]!
    const { name, file } = DEVICES[deviceType]!
    const files = group.map(({ index }) => file(index))
    return { name, type: gresType(model), count: group.length, files, cores: null }
  })
}

/**
 * The node in slurm.conf, from its last discovery: NodeName is its short host name, NodeAddr its address in the inventory.
 * @returns null when it was never discovered
 */
export function configNodeOf(
  node: Pick<ComputeNode, 'name' | 'host' | 'facts' | 'cpuSockets' | 'cpuCores' | 'cpuThreads' | 'memoryBytes'>,
  devices: readonly Device[],
): ConfigNode | null {
  const { cpuSockets, cpuCores, cpuThreads, memoryBytes } = node
  if (!cpuThreads || !memoryBytes) return null
  const sockets = cpuSockets || 1
  const cores = cpuCores || cpuThreads
  const coresPerSocket = Math.max(1, Math.floor(cores / sockets))
  return {
    name: shortHostname(node),
    address: node.host,
    sockets,
    coresPerSocket,
    threadsPerCore: Math.max(1, Math.floor(cpuThreads / (coresPerSocket * sockets))),
    realMemoryMiB: Math.floor(memoryBytes / 1024 / 1024),
    gres: gresOf(devices),
    features: [],
  }
}
