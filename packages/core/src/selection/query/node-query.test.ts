import { and } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createNodeGroup, matchesNodeQuery, readGroupTree, setNodeGroupMembers } from '../../groups/index.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { accelerators, computeNodes } from '../../nodes/index.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { foldHostlist } from '../hostlist.ts'
import { parseNodeQuery } from './parse.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

type Row = typeof computeNodes.$inferInsert
type Device = Partial<typeof accelerators.$inferInsert>

async function addNodes(ctx: TenantFixture['operator'], nodes: { row: Partial<Row>; devices?: Device[] }[]) {
  const rows = await t.given.fleet(ctx, { nodes: nodes.length, prefix: 'n', with: (i) => nodes[i]!.row })
  const devices = nodes.flatMap(({ devices = [] }, i) => devices.map((device, index) => ({ device, index, node: rows[i]! })))
  if (devices.length > 0)
    await t.runtime.db.insert(accelerators).values(
      devices.map(({ device, index, node }) => ({
        tenantId: node.tenantId,
        nodeId: node.id,
        identity: `index:${index}`,
        index,
        deviceType: 'other' as const,
        vendor: 'other',
        health: 'ok' as const,
        source: 'tool' as const,
        ...device,
      })),
    )
  return rows
}

async function found(ctx: TenantFixture['operator'], query: string): Promise<string[]> {
  const tree = await readGroupTree(t.runtime.db, ctx)
  const rows = await t.runtime.db
    .select({ name: computeNodes.name })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), matchesNodeQuery(tree, query, computeNodes)))
  return rows.map((row) => row.name).sort()
}

describe('finds', () => {
  beforeAll(async () => {
    const GiB = 1024 ** 3
    const h100: Device = { deviceType: 'nvidia_gpu', vendor: 'nvidia', model: 'NVIDIA H100', driverVersion: '570.133.20' }
    const mi300: Device = { deviceType: 'amd_gpu', vendor: 'amd', model: 'AMD Instinct MI300X', memoryTotal: 192 * GiB }
    const [first] = await addNodes(ours.operator, [
      {
        row: { tags: ['prod', 'hot'], labels: { rack: 'a1', u: '9' }, memoryBytes: 512 * GiB, kernel: '6.1.0-31' },
        devices: [h100, h100],
      },
      { row: { tags: ['prod'], labels: { rack: 'b2', u: '10' }, memoryBytes: 2 * 1024 * GiB, arch: 'x86_64' }, devices: [mi300] },
      { row: { unreachableSince: new Date(), osId: 'rocky', osVersion: '9.4' }, devices: [{ ...mi300, health: 'lost' }, mi300] },
      { row: { nodeType: 'LOGIN', cpuThreads: 64, labels: { note: '100% {ok}' }, kernel: '6.10.2' } },
      { row: { nodeType: 'STORAGE' }, devices: [h100, mi300, mi300] },
    ])
    const room = await createNodeGroup(ours.operator, { name: 'room' })
    await setNodeGroupMembers(ours.operator, { id: room.id, addNodeIds: [first!.id] })
  })
  test.each([
    ['tag = prod', 'n[001-002]'],
    ['accelerator.vendor = AMD and tag = prod', 'n002'],
    ['tag = hot or tag = none or accelerator.count = 0', 'n[001,004]'],
    ['not tag = prod', 'n[003-005]'],
    ['tag != prod', 'n[003-005]'],
    ['NOT (tag = prod or type = login)', 'n[003,005]'],
    ['name = n004 or tag = hot and tag = none', 'n004'],
    ['(name = n004 or tag = hot) and tag = none', ''],
    ['tag ~ pro', 'n[001-002]'],
    ['tag ~ PRO*', 'n[001-002]'],
    ['tag ~ "?ro"', ''],
    ['label.rack in (a1, b2) and label.rack not in (b2)', 'n001'],
    ['label.rack ~ *', 'n[001-002]'],
    ['label.rack != a1', 'n[002-005]'],
    ['label.u < 10', 'n001'],
    ["label.note ~ '% {'", 'n004'],
    ['memory >= 512GiB', 'n[001-002]'],
    ['memory > 550gb', 'n002'],
    ['memory = 549755813888', 'n001'],
    ['kernel >= 6.2', 'n004'],
    ['kernel >= 6.1', 'n[001,004]'],
    ['accelerator.driver < 571 and accelerator.driver > 570.86', 'n[001,005]'],
    ['health = unhealthy', 'n003'],
    ['accelerator.count >= 2', 'n[001,003,005]'],
    ['accelerator.vendor = NVIDIA and accelerator.count >= 2', 'n001'],
    ['accelerator.vendor = amd and accelerator.count = 1', 'n002'],
    ['accelerator.vendor in (amd, nvidia) and (accelerator.count = 1 or accelerator.count = 3)', 'n[002,005]'],
    ['(tag = prod and accelerator.vendor = nvidia) and accelerator.count = 2', 'n001'],
    ['accelerator.count = 1 and accelerator.vendor = nvidia', 'n005'],
    ['accelerator.model ~ mi300 and accelerator.count = 2', 'n[003,005]'],
    ['accelerator.vendor = nvidia or accelerator.count = 2', 'n[001,003,005]'],
    ['accelerator.health in (lost, critical)', 'n003'],
    ['accelerator.type = amd_gpu and accelerator.memory > 100GiB', 'n[002-003,005]'],
    ['accelerator.model ~ mi300', 'n[002-003,005]'],
    ['status = unreachable and os = Rocky and os.version >= 9', 'n003'],
    ['cpu.threads > 63.5', 'n004'],
    ['group = room', 'n001'],
    ['group != room and group != room', 'n[002-005]'],
    ['arch != x86_64', 'n[001,003-005]'],
    ['name = "n001\' or true --"', ''],
  ])('%s', async (query, names) => {
    expect(foldHostlist(await found(ours.operator, query))).toBe(names)
  })
})

test.each([
  ['', /must contain a query/],
  ['tag', /at character 4: expected = != ~ in or not in after tag$/],
  ['tag =', /at character 6: expected a value, but the query ends/],
  ['tagg = a', /at character 1, "tagg": unknown field; fields are name, .*label.KEY, .*accelerator.toolkit, group$/],
  ['tag = a tag = b', /at character 9, "tag": expected and, or or the end/],
  ['tag == a', /at character 6, "=": expected a value/],
  ['(tag = a or tag = b', /at character 20: expected and, or or \): the \( at character 1 is not closed/],
  ['tag = a)', /at character 8, "\)": expected and, or or the end/],
  ['tag = and', /at character 7, "and": expected a value; quote it/],
  ['tag = "a', /at character 7, "\\"a": the quote is never closed/],
  ['tag = a && tag = b', /at character 9, "&": unexpected character; operators are and, or, not/],
  ['tag in a', /at character 8, "a": expected a list such as/],
  ['tag in (a b)', /at character 11, "b": expected a comma or \)/],
  ['tag < a', /expected = != ~ in or not in after tag/],
  ['accelerator.vendor = nvidea', /"nvidea": accelerator.vendor must be one of amd, biren, .*nvidia/],
  ['status = BROKEN', /at character 10, "BROKEN": status must be one of NEW, READY/],
  ['memory > 3 parsecs', /expected and, or or the end/],
  ['memory > 3parsecs', /memory must be a number of bytes or one with a unit, such as 64GiB/],
  ['cpu.cores > many', /cpu.cores must be a number/],
  ['kernel < new', /kernel must be a version such as/],
  ['group = nobody', /unknown group nobody/],
  ['tag = a\u0000', /control characters/],
  ['label. = a', /unknown field/],
  [`${'('.repeat(33)}tag = a${')'.repeat(33)}`, /at character 33, "\(": not and parentheses can be nested at most 32 deep/],
  [Array(65).fill('tag = a').join(' or '), /at most 64 comparisons/],
  [`tag = ${'a'.repeat(2000)}`, /at most 2000 characters/],
])('rejects %j', (query, message) => {
  let error: unknown
  try {
    parseNodeQuery(query, { groups: new Set(['room']) })
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'query', message: expect.stringMatching(message) }] })
})

// A second implementation of the query language, in plain JavaScript, for random nodes and queries.
test('finds the same nodes as the reference for random queries', async () => {
  const own = (await t.given.tenant()).operator
  let seed = 42
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed / 2 ** 31
  }
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const words = ['a', 'b', 'ab', 'B%', 'a_b']
  const versions = ['5', '5.9', '5.10-x', 'v6', '']
  type Model = { tags: string[]; rack?: string; kernel: string | null; threads: number | null; drivers: string[] }
  const models = Array.from(
    { length: 40 },
    (): Model => ({
      tags: words.filter(() => random() < 0.3),
      ...(random() < 0.5 ? { rack: pick(words) } : {}),
      kernel: pick([null, ...versions]),
      threads: pick([null, 0, 8, 64]),
      drivers: words.filter(() => random() < 0.3),
    }),
  )
  const rows = await addNodes(
    own,
    models.map(({ tags, rack, kernel, threads, drivers }) => ({
      row: { tags, labels: Object.fromEntries(rack === undefined ? [] : [['rack', rack]]), kernel, cpuThreads: threads },
      devices: drivers.map((driverVersion) => ({ driverVersion })),
    })),
  )

  type Test = { text: string; holds: (m: Model) => boolean }
  const quoted = (word: string) => JSON.stringify(word)
  const stringField = (): { name: string; of: (m: Model) => string[]; fold: (s: string) => string } =>
    pick([
      { name: 'tag', of: (m) => m.tags, fold: (s) => s },
      { name: 'label.rack', of: (m) => (m.rack === undefined ? [] : [m.rack]), fold: (s) => s },
      { name: 'accelerator.driver', of: (m) => m.drivers, fold: (s) => s },
    ])
  const numbers = (version: string) => (/\d+(\.\d+)*/.exec(version)?.[0] ?? '').split('.').filter(Boolean).map(Number)
  const less = (a: number[], b: number[]) => {
    const at = a.findIndex((each, i) => each !== b[i])
    return at === -1 ? a.length < b.length : b[at] !== undefined && a[at]! < b[at]!
  }
  const leaf = (): Test => {
    const field = stringField()
    const [one, two] = [pick(words), pick(words)]
    const limit = pick([0, 8, 9])
    const version = pick(['5', '5.9', '6'])
    const equals = (m: Model, word: string) => field.of(m).some((each) => field.fold(each) === field.fold(word))
    const ilike = (test: (value: string) => boolean) => (m: Model) => field.of(m).some((value) => test(value.toLowerCase()))
    return pick<Test>([
      { text: `${field.name} = ${quoted(one)}`, holds: (m) => equals(m, one) },
      { text: `${field.name} != ${quoted(one)}`, holds: (m) => !equals(m, one) },
      { text: `${field.name} in (${quoted(one)}, ${quoted(two)})`, holds: (m) => equals(m, one) || equals(m, two) },
      { text: `${field.name} not in (${quoted(one)})`, holds: (m) => !equals(m, one) },
      { text: `${field.name} ~ ${quoted(one)}`, holds: ilike((value) => value.includes(one.toLowerCase())) },
      { text: `${field.name} ~ ${quoted(`${one}*`)}`, holds: ilike((value) => value.startsWith(one.toLowerCase())) },
      { text: `cpu.threads >= ${limit}`, holds: (m) => m.threads !== null && m.threads >= limit },
      { text: `accelerator.count < ${limit}`, holds: (m) => m.drivers.length < limit },
      {
        text: `kernel < ${version}`,
        holds: (m) => numbers(m.kernel ?? '').length > 0 && less(numbers(m.kernel!), numbers(version)),
      },
      { text: `kernel > ${version}`, holds: (m) => less(numbers(version), numbers(m.kernel ?? '')) },
    ])
  }
  const randomTest = (depth: number): Test => {
    if (depth === 0 || random() < 0.3) return leaf()
    const [a, b] = [randomTest(depth - 1), randomTest(depth - 1)]
    return pick<Test>([
      { text: `(${a.text}) and (${b.text})`, holds: (m) => a.holds(m) && b.holds(m) },
      { text: `(${a.text}) or (${b.text})`, holds: (m) => a.holds(m) || b.holds(m) },
      { text: `not (${a.text})`, holds: (m) => !a.holds(m) },
    ])
  }
  for (let i = 0; i < 150; i++) {
    const { text, holds } = randomTest(3)
    const expected = rows.filter((_, k) => holds(models[k]!)).map((row) => row.name)
    expect({ text, names: await found(own, text) }).toEqual({ text, names: expected.sort() })
  }
})
