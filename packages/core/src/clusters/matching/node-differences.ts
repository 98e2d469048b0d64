import type { Gres, SlurmNode } from '@muster/slurm'
import { formatBytes } from '../../kernel/format-bytes.ts'
import type { accelerators, ComputeNode } from '../../nodes/tables.ts'

type Discovered = Pick<ComputeNode, 'discoveredAt' | 'cpuThreads' | 'cpuCores' | 'memoryBytes'>
type Device = Pick<typeof accelerators.$inferSelect, 'model' | 'health' | 'partitions' | 'index'>

export type NodeDifference = {
  kind: 'GPU_COUNT' | 'GPU_TYPE' | 'GPU_HEALTH' | 'CPUS' | 'MEMORY'
  configured: string
  discovered: string
}

/** Names of GRES that are accelerators. */
const ACCELERATORS = ['gpu', 'npu', 'ppu', 'dcu']
/** Types of MIG devices: h100_1g.10gb, 1g.5gb, 3g.20gb+me. */
const MIG_TYPE = /(^|_)\d+g\.\d+gb/
const MAX_DIFFERENCES = 20
const MIB = 1024 ** 2

const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')
const total = (gres: Gres[]) => gres.reduce((sum, { count }) => sum + count, 0)
const listed = (parts: string[]) => (parts.length > 0 ? parts.join(', ') : 'none')
const gresText = (gres: Gres[]) => listed(gres.map(({ name, type, count }) => `${count} × ${type ?? name}`))

function modelsText(devices: Device[]): string {
  const models = Map.groupBy(devices, ({ model }) => model ?? 'unknown model')
  return listed([...models].map(([model, of]) => `${of.length} × ${model}`))
}

/**
 * What Slurm configures differently from what Muster discovered. The CPUs of
 * a node may be its threads or its cores, and its memory may be less than there is.
 */
export function nodeDifferences(report: SlurmNode, node: Discovered, devices: Device[]): NodeDifference[] {
  if (node.discoveredAt === null) return []
  return [...gpuDifferences(report.gres, devices), ...cpuDifferences(report, node), ...memoryDifferences(report, node)].slice(
    0,
    MAX_DIFFERENCES,
  )
}

function gpuDifferences(gres: Gres[], devices: Device[]): NodeDifference[] {
  const configured = gres.filter(({ name }) => ACCELERATORS.includes(name))
  const isMig = ({ type }: Gres) => type !== null && MIG_TYPE.test(type.toLowerCase())
  const whole = configured.filter((one) => !isMig(one))
  const mig = configured.filter(isMig)
  const unpartitioned = devices.filter(({ partitions }) => partitions.length === 0)
  const partitions = devices.reduce((sum, device) => sum + device.partitions.length, 0)
  const differences: NodeDifference[] = []
  if (total(whole) !== unpartitioned.length)
    differences.push({ kind: 'GPU_COUNT', configured: gresText(whole), discovered: modelsText(unpartitioned) })
  if (total(mig) !== partitions)
    differences.push({
      kind: 'GPU_COUNT',
      configured: gresText(mig),
      discovered: partitions === 1 ? '1 partition' : `${partitions} partitions`,
    })
  const models = unpartitioned.flatMap(({ model }) => (model ? [plain(model)] : []))
  if (models.length > 0)
    for (const { type, count } of whole)
      if (type !== null && !models.some((model) => model.includes(plain(type))))
        differences.push({ kind: 'GPU_TYPE', configured: `${count} × ${type}`, discovered: modelsText(unpartitioned) })
  const broken = devices.filter(({ health }) => health === 'lost' || health === 'critical')
  if (broken.length > 0 && total(configured) > 0)
    differences.push({
      kind: 'GPU_HEALTH',
      configured: gresText(configured),
      discovered: broken.map(({ index, health }) => `GPU ${index} is ${health}`).join(', '),
    })
  return differences
}

function cpuDifferences({ cpus }: SlurmNode, { cpuThreads, cpuCores }: Discovered): NodeDifference[] {
  if (cpuThreads === null || cpus === cpuThreads || cpus === cpuCores) return []
  return [{ kind: 'CPUS', configured: String(cpus), discovered: `${cpuThreads} threads, ${cpuCores ?? 'unknown'} cores` }]
}

function memoryDifferences({ memory }: SlurmNode, { memoryBytes }: Discovered): NodeDifference[] {
  if (memoryBytes === null) return []
  const sizes = [memory, Math.floor(memoryBytes / MIB)] as const
  if (sizes[0] <= sizes[1]) return []
  const [configured, discovered] = sizes.map((size) => formatBytes(size * MIB))
  if (configured !== discovered) return [{ kind: 'MEMORY', configured: configured!, discovered: discovered! }]
  const exact = (size: number) => `${configured} (${size} MiB)`
  return [{ kind: 'MEMORY', configured: exact(sizes[0]), discovered: exact(sizes[1]) }]
}
