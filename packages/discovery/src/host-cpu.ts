import { parseNumaCores } from './host-cores.ts'
import type { HostFacts } from './schema.ts'
import { parseCount } from './text.ts'

/** Counts the numbers in a list such as `0-3,8`. */
const countList = (text: string | null): number | null => {
  const parts = (text ?? '').split(',').map((part) => /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()))
  if (parts.some((part) => part === null)) return null
  return parts.reduce((sum, part) => sum + Math.max(0, Number(part?.[2] ?? part?.[1]) - Number(part?.[1]) + 1), 0)
}

/** Arm processors report implementer and part instead of a name. */
const ARM_PARTS: Record<string, string> = {
  '0x41/0xd0c': 'Neoverse-N1',
  '0x41/0xd40': 'Neoverse-V1',
  '0x41/0xd49': 'Neoverse-N2',
  '0x41/0xd4f': 'Neoverse-V2',
  '0x41/0xd84': 'Neoverse-V3',
  '0x41/0xd08': 'Cortex-A72',
  '0x41/0xd0b': 'Cortex-A76',
  '0x48/0xd01': 'Kunpeng-920',
  '0x48/0xd02': 'Kunpeng-920 V200',
  '0xc0/0xac3': 'Ampere-1',
  '0xc0/0xac4': 'Ampere-1a',
  '0x70/0x663': 'FT-2500',
  '0x46/0x001': 'A64FX',
}

export function parseCpu(text: string, files: Map<string, string>): HostFacts['cpu'] {
  const get = (label: string) => new RegExp(`^${label}\\s*:\\s*(.+)$`, 'mi').exec(text)?.[1]?.trim() ?? null
  const base = [...files.keys()].find((path) => path.endsWith('/cpu/online'))?.replace(/online$/, '') ?? ''
  const file = (path: string) => files.get(base + path)?.trim() ?? null
  const threads = countList(file('online'))
  const perSocket = countList(file('cpu0/topology/core_siblings_list')) ?? parseCount(get('siblings'))
  const perCore = countList(file('cpu0/topology/thread_siblings_list'))
  const sockets = threads && perSocket ? Math.max(1, Math.round(threads / perSocket)) : null
  const coresPerSocket = parseCount(get('cpu cores'))
  const arm = `${get('CPU implementer')}/${get('CPU part')}`
  return {
    model:
      get('model name') ??
      get('Hardware') ??
      ARM_PARTS[arm] ??
      (get('CPU part') ? `arm ${arm}` : (get('cpu model') ?? get('uarch'))),
    sockets,
    cores: sockets && coresPerSocket ? sockets * coresPerSocket : threads && perCore ? Math.round(threads / perCore) : null,
    threads,
    numaCores: parseNumaCores(files),
  }
}
