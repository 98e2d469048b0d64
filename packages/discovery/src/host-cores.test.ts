import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseNumaCores } from './host-cores.ts'

/** CPUs by package, NUMA node, core and thread, as files of /sys. Nodes of one number may be in several packages. */
function sysfs(packages: { node: number; cores: number[][] }[][]): Map<string, string> {
  const at = '/sys/devices/system'
  const files = new Map<string, string>()
  const nodes = new Map<number, number[]>()
  const all: number[] = []
  packages.forEach((groups, number) => {
    for (const { node, cores } of groups)
      for (const threads of cores)
        for (const cpu of threads) {
          // A number of the firmware, not a position.
          files.set(`${at}/cpu/cpu${cpu}/topology/physical_package_id`, `${36 * (packages.length - number)}\n`)
          files.set(`${at}/cpu/cpu${cpu}/topology/thread_siblings_list`, `${threads.join(',')}\n`)
          nodes.set(node, [...(nodes.get(node) ?? []), cpu])
          all.push(cpu)
        }
  })
  for (const [node, cpus] of nodes) files.set(`${at}/node/node${node}/cpulist`, `${cpus.join(',')}\n`)
  return files.set(`${at}/cpu/online`, `${all.join(',')}\n`)
}

describe('parseNumaCores', () => {
  it('numbers cores, not threads', () => {
    const socket = (first: number, node: number) => [
      { node, cores: [0, 1, 2, 3].map((core) => [first + core, first + core + 8]) },
    ]
    expect(parseNumaCores(sysfs([socket(0, 0), socket(4, 1)]))).toEqual({ 0: '0-3', 1: '4-7' })
  })

  it('numbers cores by package when the CPUs of packages alternate', () => {
    const socket = (first: number) => [{ node: first, cores: [0, 2, 4, 6].map((cpu) => [first + cpu]) }]
    expect(parseNumaCores(sysfs([socket(0), socket(1)]))).toEqual({ 0: '0-3', 1: '4-7' })
  })

  it('omits what Slurm would number differently', () => {
    const files = sysfs([
      [
        {
          node: 0,
          cores: [
            [0, 1],
            [2, 3],
          ],
        },
      ],
      [
        {
          node: 1,
          cores: [
            [4, 5],
            [6, 7],
          ],
        },
      ],
    ])
    const without = (path: string) => new Map([...files].filter(([name]) => !name.endsWith(path)))
    expect(parseNumaCores(files)).toEqual({ 0: '0-1', 1: '2-3' })
    expect(parseNumaCores(without('cpu7/topology/thread_siblings_list'))).toBeNull()
    expect(parseNumaCores(without('cpu7/topology/physical_package_id'))).toBeNull()
    expect(parseNumaCores(without('node1/cpulist'))).toBeNull()
    expect(parseNumaCores(new Map())).toBeNull()
    // Packages with 2 cores and 1 core; cores with 2 threads and 1 thread.
    expect(parseNumaCores(sysfs([[{ node: 0, cores: [[0], [1]] }], [{ node: 1, cores: [[2]] }]]))).toBeNull()
    expect(parseNumaCores(sysfs([[{ node: 0, cores: [[0, 1], [2]] }]]))).toBeNull()
  })

  it('numbers the leaves of the tree of packages, NUMA nodes and cores in the order of their first CPU', () => {
    const topology = fc
      .record({
        packages: fc.integer({ min: 1, max: 4 }),
        nodes: fc.integer({ min: 1, max: 4 }),
        cores: fc.integer({ min: 1, max: 4 }),
        threads: fc.integer({ min: 1, max: 2 }),
      })
      .chain((shape) => {
        const count = shape.packages * shape.nodes * shape.cores * shape.threads
        const cpus = Array.from({ length: count }, (_, cpu) => cpu)
        return fc.shuffledSubarray(cpus, { minLength: count }).map((order) => ({ ...shape, order }))
      })
    fc.assert(
      fc.property(topology, ({ packages, nodes, cores, threads, order }) => {
        const next = order.values()
        const make = <T>(count: number, item: (index: number) => T) => Array.from({ length: count }, (_, index) => item(index))
        const tree = make(packages, (p) =>
          make(nodes, (n) => ({ node: p * nodes + n, cores: make(cores, () => make(threads, () => next.next().value!)) })),
        )
        const first = (value: unknown): number =>
          Math.min(...(JSON.stringify(value, (key, v) => (key === 'node' ? undefined : v)).match(/\d+/g) ?? []).map(Number))
        const sorted = <T>(list: T[]) => [...list].sort((a, b) => first(a) - first(b))
        const expected = sorted(tree).flatMap((groups) => sorted(groups).flatMap(({ node, cores }) => cores.map(() => node)))
        const found = parseNumaCores(sysfs(tree))!
        const nodeOf = new Map(
          Object.entries(found).flatMap(([node, list]) =>
            list.split(',').flatMap((range) => {
              const [from, to = from] = range.split('-').map(Number)
              return make(to! - from! + 1, (i) => [from! + i, Number(node)] as const)
            }),
          ),
        )
        expect(expected.map((_, core) => nodeOf.get(core))).toEqual(expected)
        expect(nodeOf.size).toBe(expected.length)
      }),
    )
  })
})
