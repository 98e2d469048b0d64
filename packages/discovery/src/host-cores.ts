import type { HostFacts } from './schema.ts'

/** The numbers of a list such as `0-3,8`; null when it is malformed. */
function parseList(text: string): number[] | null {
  const numbers: number[] = []
  for (const part of text.trim().split(',').filter(Boolean)) {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? []
    if (first === undefined) return null
    for (let number = Number(first); number <= Number(last); number++) numbers.push(number)
  }
  return numbers
}

/** Sorted numbers as a list such as `0-3,8`. */
function formatList(numbers: number[]): string {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

type Core = { first: number; package: string; node: number; threads: number }

/**
 * Logical core numbers of each NUMA node. Logical cores are numbered as hwloc does (Core L# of `lstopo -l`), which is also how Slurm
 * numbers cores: package by package, NUMA node by NUMA node in a package, each in the order of its first CPU. Threads do not count.
 * Source: /sys/devices/system, `physical_package_id` and `thread_siblings_list` of each online CPU, and `cpulist` of each NUMA node.
 * @returns null when the CPUs are unknown, or packages differ in their cores, or cores in their threads
 */
export function parseNumaCores(files: ReadonlyMap<string, string>): HostFacts['cpu']['numaCores'] {
  const packages = new Map<number, string>()
  const siblings = new Map<number, number[]>()
  const nodes = new Map<number, number>()
  let online: number[] | null = null
  for (const [path, text] of files) {
    const [, cpu, name] = /\/cpu\/cpu(\d+)\/topology\/(\w+)$/.exec(path) ?? []
    const list = name === 'physical_package_id' ? null : parseList(text)
    if (name === 'physical_package_id') packages.set(Number(cpu), text.trim())
    else if (name === 'thread_siblings_list' && list) siblings.set(Number(cpu), list)
    else if (path.endsWith('/cpu/online')) online = list
    const node = /\/node\/node(\d+)\/cpulist$/.exec(path)?.[1]
    if (node !== undefined) for (const cpu of list ?? []) nodes.set(cpu, Number(node))
  }
  const cores = readCores(online ?? [], { packages, siblings, nodes })
  if (!cores || cores.length === 0) return null
  const firstOf = (same: (core: Core) => boolean) => Math.min(...cores.filter(same).map(({ first }) => first))
  const placed = cores.map((core) => ({
    ...core,
    order: [
      firstOf((other) => other.package === core.package),
      firstOf((other) => other.package === core.package && other.node === core.node),
      core.first,
    ],
  }))
  placed.sort((a, b) => a.order[0]! - b.order[0]! || a.order[1]! - b.order[1]! || a.order[2]! - b.order[2]!)
  const byNode = Map.groupBy([...placed.keys()], (number) => placed[number]!.node)
  return Object.fromEntries([...byNode].map(([node, numbers]) => [String(node), formatList(numbers)]))
}

type Topology = {
  packages: ReadonlyMap<number, string>
  siblings: ReadonlyMap<number, number[]>
  nodes: ReadonlyMap<number, number>
}

function readCores(online: number[], { packages, siblings, nodes }: Topology): Core[] | null {
  const cores = new Map<number, Core>()
  for (const cpu of online) {
    const [place, threads, node] = [packages.get(cpu), siblings.get(cpu), nodes.get(cpu)]
    if (place === undefined || node === undefined || !threads?.includes(cpu)) return null
    const first = Math.min(...threads)
    const core = cores.get(first) ?? { first, package: place, node, threads: threads.length }
    if (core.package !== place || core.node !== node || core.threads !== threads.length) return null
    cores.set(first, core)
  }
  const list = [...cores.values()]
  const sizes = [...Map.groupBy(list, (core) => core.package).values()].map(({ length }) => length)
  const isRegular = new Set(sizes).size === 1 && new Set(list.map(({ threads }) => threads)).size === 1
  return isRegular ? list : null
}
