import type { ConfigGres, ConfigNode } from '@muster/slurm/config'
import type { accelerators, ComputeNode } from '../nodes/tables.ts'

type Device = Pick<
  typeof accelerators.$inferSelect,
  'deviceType' | 'model' | 'index' | 'partitionMode' | 'partitions' | 'health' | 'numaNode' | 'pciAddress'
>
type Facts = ComputeNode['facts']

/** GRES name and device file of each type of accelerator. Slurm knows no files of other types. */
const DEVICES: Record<string, { name: string; file: (number: number) => string }> = {
  nvidia_gpu: { name: 'gpu', file: (number) => `/dev/nvidia${number}` },
  amd_gpu: { name: 'gpu', file: (number) => `/dev/dri/renderD${128 + number}` },
  intel_gpu: { name: 'gpu', file: (number) => `/dev/dri/renderD${128 + number}` },
  huawei_npu: { name: 'npu', file: (number) => `/dev/davinci${number}` },
}

const shortHostname = (node: Pick<ComputeNode, 'name' | 'facts'>): string =>
  (node.facts?.hostname ?? node.name).split('.')[0]!.toLowerCase()

/** `NVIDIA H100 80GB HBM3` is the type h100; null when the model has no such word. */
export function gresType(model: string | null): string | null {
  const word = /\b([a-z]{0,4}\d{2,4}[a-z]{0,2})\b(?!\s*gb)/i.exec((model ?? '').replace(/\b\d+\s*gb\b/gi, ''))?.[1]
  return word?.toLowerCase() ?? null
}

type Unit = { name: string; type: string | null; files: string[]; cores: string | null }

/**
 * What jobs get of an accelerator: the device itself, or its MIG devices, each with the files that a process needs. The type of a MIG
 * device is its profile (1g.10gb), as Slurm's own detection names it. Partitions of other vendors, and of unknown files, are left out.
 */
function unitsOf({ deviceType, model, index, partitionMode, partitions, numaNode, pciAddress }: Device, facts: Facts): Unit[] {
  const device = DEVICES[deviceType]
  if (!device) return []
  const cores = numaNode === null ? null : (facts?.cpu.numaCores?.[numaNode] ?? null)
  const { name } = device
  if (partitions.length > 0 || /^MIG enabled/.test(partitionMode ?? ''))
    return partitions.flatMap(({ kind, profile, deviceFiles }) =>
      kind === 'mig' && deviceFiles?.length && /^\d+g\.\d+gb[\w.+-]*$/i.test(profile ?? '')
        ? [{ name, type: profile!.toLowerCase(), files: deviceFiles, cores }]
        : [],
    )
  const minor = pciAddress === null ? null : facts?.pci.find(({ address }) => address === pciAddress)?.deviceMinor
  return [{ name, type: gresType(model), files: [device.file(minor ?? index)], cores }]
}

/** Accelerators as typed GRES, in the order of their numbers; those of one type and NUMA node together. */
export function gresOf(devices: readonly Device[], facts: Facts = null): ConfigGres[] {
  const units = devices.flatMap((device) => unitsOf(device, facts))
  const groups = Map.groupBy(units, ({ name, type, files, cores }) => JSON.stringify([name, type, files.length, cores]))
  return [...groups.values()].map((group) => {
    const { name, type, cores } = group[0]!
    return { name, type, count: group.length, files: group.flatMap(({ files }) => files), cores }
  })
}

/** Logical cores of each NUMA node, when slurm.conf gets the same cores, and devices are nearer to some of them than to others. */
function usableCores(facts: Facts, cores: number): Facts {
  const lists = Object.values(facts?.cpu.numaCores ?? {})
  const total = lists
    .flatMap((list) => list.split(','))
    .reduce((sum, range) => {
      const [first, last = first] = range.split('-').map(Number)
      return sum + last! - first! + 1
    }, 0)
  if (!facts || (total === cores && lists.length > 1)) return facts
  return { ...facts, cpu: { ...facts.cpu, numaCores: null } }
}

/** The switch of a node, from its label `switch`; no tool on a node reports it reliably. Null: none, or no name that Slurm accepts. */
const switchOf = (labels: ComputeNode['labels']): string | null => {
  const name = labels.switch ?? ''
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name) ? name : null
}

/** The node with shards of its whole GPUs, which jobs can share. GPUs with MIG devices have none. */
export function withShards(node: ConfigNode, shardsPerGpu: number): ConfigNode {
  const whole = node.gres.filter(({ name, count, files }) => name === 'gpu' && files.length === count)
  const files = whole.flatMap(({ files }) => files)
  if (shardsPerGpu === 0 || files.length === 0) return node
  const shards = { name: 'shard', type: null, count: shardsPerGpu * files.length, files, cores: null }
  return { ...node, gres: [...node.gres, shards] }
}

/**
 * The node in slurm.conf, from its last discovery: NodeName is its short host name, NodeAddr its address in the inventory.
 * @returns null when it was never discovered
 */
export function configNodeOf(
  node: Pick<ComputeNode, 'name' | 'host' | 'facts' | 'cpuSockets' | 'cpuCores' | 'cpuThreads' | 'memoryBytes' | 'labels'>,
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
    gres: gresOf(devices, usableCores(node.facts, coresPerSocket * sockets)),
    features: [],
    switchName: switchOf(node.labels),
  }
}
