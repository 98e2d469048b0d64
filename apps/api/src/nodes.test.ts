import { createNodeGroup, deleteNodeGroup, readGroupTree, setNodeGroupMembers } from '@muster/core/groups'
import { NODE_HEALTH_STATUSES, updateNode } from '@muster/core/nodes'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { makeHostKey } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from './testing/api.ts'
import { countStatements } from './testing/count-statements.ts'

let t: Awaited<ReturnType<typeof testApi>>
let operator: Ctx
beforeAll(async () => {
  t = await testApi()
  operator = (await t.given.tenant()).operator
  const { db } = t.runtime
  const nodes = await t.given.fleet(operator, {
    nodes: 12,
    accelerators: 2,
    with: (i) => ({
      tags: [i % 2 ? 'odd' : 'even', `rack${i % 3}`],
      labels: (i === 0 ? { zone: 'a', empty: '' } : { zone: 'b' }) as Record<string, string>,
      arch: i < 6 ? 'x86_64' : 'aarch64',
      osId: i < 4 ? 'debian' : 'rocky',
      notes: i === 5 ? '100% of "special_case"' : '',
      displayName: i === 4 ? 'Front Desk' : null,
      readyAt: i === 11 ? null : new Date(),
      lastSeenAt: i > 8 ? null : new Date(Date.UTC(2026, 0, 1 + (i % 4))),
      ...(i === 3 ? { offeredHostKey: makeHostKey(), offeredHostKeyAt: new Date() } : {}),
    }),
  })
  const [first, second] = nodes
  await db
    .update(schema.accelerators)
    .set({ vendor: 'amd', deviceType: 'amd_gpu', model: 'MI300X', health: 'warning' })
    .where(eq(schema.accelerators.nodeId, first!.id))
  await db.delete(schema.accelerators).where(eq(schema.accelerators.nodeId, second!.id))
  for (const [name, priority] of [
    ['late', 200],
    ['early', 10],
  ] as const) {
    const group = await createNodeGroup(operator, { name, priority })
    await setNodeGroupMembers(operator, { id: group.id, addNodeIds: [first!.id, second!.id] })
  }
  await updateNode(operator, {
    ...{ id: nodes[6]!.id, xname: 'x1000c0s7b0n0', nid: 7, rack: 'A1' },
    interfaces: [{ name: 'eth0', mac: '02:00:5e:10:00:07', isBoot: true, addresses: [{ address: '10.1.0.7', network: 'mgmt' }] }],
  })
  const interfaces = [{ name: 'eth0', mac: '02:00:5e:10:00:08' }]
  await updateNode(operator, { id: nodes[7]!.id, xname: 'x1000c0s8b0n0', nid: 8, interfaces })
  // Must not be visible: nodes of another tenant.
  await t.given.fleet((await t.given.tenant()).operator, { nodes: 3, accelerators: 1 })
})
afterAll(() => t?.close())

type Page = {
  nodes: { totalCount: number; edges: { cursor: string; node: { name: string } }[]; pageInfo: Record<string, unknown> }
}
const names = async (filter: object) => {
  const { nodes } = await t.ask<Page>(
    operator,
    'query ($filter: NodeFilter) { nodes(filter: $filter) { totalCount edges { node { name } } } }',
    { filter },
  )
  expect(nodes.totalCount).toBe(nodes.edges.length)
  return nodes.edges.map(({ node }) => Number(node.name.slice(3)))
}

test.each([
  [{ text: 'GPU00' }, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
  [{ text: 'front' }, [5]],
  [{ text: '100%' }, [6]],
  [{ text: 'special_' }, [6]],
  [{ text: '%' }, [6]],
  [{ text: 'rack2' }, [3, 6, 9, 12]],
  [{ status: ['NEW'] }, [12]],
  [{ health: ['UNKNOWN'] }, [12]],
  [{ health: ['DEGRADED'] }, [1]],
  [{ query: 'health = degraded' }, [1]],
  [{ status: ['NEW', 'READY'], text: 'gpu01' }, [10, 11, 12]],
  [{ tag: ['odd', 'rack0'] }, [4, 10]],
  [{ label: [{ key: 'zone', value: 'a' }] }, [1]],
  [{ label: [{ key: 'empty' }] }, [1]],
  [{ label: [{ key: 'empty', value: '' }] }, [1]],
  [{ group: ['early', 'nothing'] }, [1, 2]],
  [{ acceleratorVendor: ['AMD'] }, [1]],
  [{ query: 'accelerator.vendor = amd and accelerator.count >= 2' }, [1]],
  [{ acceleratorModel: 'mi300' }, [1]],
  [{ deviceType: ['AMD_GPU'] }, [1]],
  [{ minAccelerators: 2, hostlist: 'gpu[001-003]' }, [1, 3]],
  [{ minAccelerators: 3 }, []],
  [{ deviceType: ['NVIDIA_GPU'], minAccelerators: 2, hostlist: 'gpu[001-003]' }, [3]],
  [{ arch: ['x86_64'], os: ['rocky'] }, [5, 6]],
  [{ hasHostKeyAlarm: true }, [4]],
  [{ hasHostKeyAlarm: false, hostlist: 'gpu[003-005]' }, [3, 5]],
  [{ hostlist: 'gpu[002,004-005],gpu999' }, [2, 4, 5]],
  [{ mac: ['02-00-5E-10-00-07', '02:00:5e:10:00:99'] }, [7]],
  [{ xname: 'X1000c0s[07-08]b0n0' }, [7, 8]],
  [{ nid: [8] }, [8]],
  [{ rack: ['A1'] }, [7]],
  [{ query: 'mac = 02005e100007 or mac ~ *:08' }, [7, 8]],
  [{ query: 'xname = X1000C0S007b0n0' }, [7]],
  [{ limit: 'xname:x1000c0s8*' }, [8]],
  [{ text: "'; drop table compute_nodes; --" }, []],
  [{ text: '\\' }, []],
])('filters by %j', async (filter, expected) => {
  expect(await names(filter)).toEqual(expected)
})

test('returns interfaces, the boot MAC and the tools that reject an xname', async () => {
  const fields = 'xname xnameRejections nid bootMac interfaces { name mac isBoot addresses { address network } }'
  const { computeNode } = await t.ask<{ computeNode: object }>(operator, `{ computeNode(name: "gpu007") { ${fields} } }`)
  expect(computeNode).toEqual({
    ...{ xname: 'x1000c0s7b0n0', xnameRejections: [], nid: 7, bootMac: '02:00:5e:10:00:07' },
    interfaces: [{ name: 'eth0', mac: '02:00:5e:10:00:07', isBoot: true, addresses: [{ address: '10.1.0.7', network: 'mgmt' }] }],
  })
  await expect(
    t.ask(operator, '{ computeNode(name: "gpu001") { bootMac interfaces { mac } xnameRejections } }'),
  ).resolves.toEqual({
    computeNode: { bootMac: null, interfaces: [], xnameRejections: [] },
  })
})

test('reports an invalid hostlist', async () => {
  const { errors } = await t.send(operator, '{ nodes(filter: { hostlist: "gpu[1-" }) { totalCount } }')
  expect(errors![0]!.extensions).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'filter.hostlist' }] })
})

test.each([
  ['nodes(filter: { acceleratorVendor: ["amd", "nvidea"] }) { totalCount }', 'filter.acceleratorVendor.1'],
  ['accelerators(filter: { vendor: ["nvidea"] }) { totalCount }', 'filter.vendor.0'],
  ['nodes(filter: { limit: "vendor:nvidea" }) { totalCount }', 'limit'],
])('rejects an unknown vendor in %s and names the known ones', async (field, path) => {
  const { errors } = await t.send(operator, `{ ${field} }`)
  expect(errors![0]!.extensions).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path, message: expect.stringMatching('there is no vendor nvidea; there are amd, biren, .*, nvidia') }],
  })
})

test.each(['NAME', 'CREATED_AT', 'LAST_SEEN_AT', 'STATUS'])(
  'pages through nodes by %s in both directions without gap or repeat',
  async (field) => {
    const query = `query ($orderBy: NodeOrder, $first: Int, $after: String, $last: Int, $before: String) {
    nodes(orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) { edges { cursor node { name } } pageInfo { hasNextPage endCursor startCursor } } }`
    const all: Record<string, string[]> = {}
    for (const direction of ['ASC', 'DESC']) {
      const seen: string[] = []
      let after: unknown = null
      for (let pages = 0; pages < 10; pages++) {
        const { nodes } = await t.ask<Page>(operator, query, { orderBy: { field, direction }, first: 5, after })
        seen.push(...nodes.edges.map(({ node }) => node.name))
        after = nodes.pageInfo.endCursor
        if (!nodes.pageInfo.hasNextPage) break
      }
      expect(new Set(seen).size).toBe(12)
      expect(seen).toHaveLength(12)
      all[direction] = seen
    }
    expect(all.DESC).toEqual(all.ASC!.toReversed())
    if (field === 'LAST_SEEN_AT') expect(all.ASC!.slice(0, 3).sort()).toEqual(['gpu010', 'gpu011', 'gpu012'])
    const { nodes } = await t.ask<Page>(operator, query, { orderBy: { field, direction: 'ASC' }, last: 4 })
    expect(nodes.edges.map(({ node }) => node.name)).toEqual(all.ASC!.slice(-4))
  },
)

const FIELDS = `id name displayName host port connectionType sshUser status nodeType tags labels { key value } notes hostKeyApprovedAt arch os { name } cpu { threads } memoryBytes facts
  discoveredAt lastSeenAt createdAt again: name __typename
  gpus: accelerators { __typename id index deviceType vendor model memoryTotalBytes health source firstSeenAt temperatureCelsius eccErrors { correctedVolatile } }
  groups { name priority isSystem id }`
type Listed = { list: { edges: { node: { name: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } }
const page = (more: string) => `query ($first: Int, $after: String, $filter: NodeFilter) {
  list: nodes(first: $first, after: $after, filter: $filter) {
    totalCount __typename edges { __typename cursor node { ...Row ... on ComputeNode { ${FIELDS} } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  } ${more} }
  fragment Row on ComputeNode { host tags accelerators { index } }`

test('the number of statements is independent of page size and filter', async () => {
  const counts: number[] = []
  const queries = [
    { first: 1 },
    { first: 3 },
    { first: 500 },
    { first: 5, filter: { status: ['READY'], deviceType: ['NVIDIA_GPU'] } },
  ]
  for (const variables of queries) {
    const { count } = await countStatements(t, () => t.ask<Listed>(operator, page(''), variables))
    counts.push(count)
  }
  expect(new Set(counts).size).toBe(1)
  expect(counts[0]).toBeLessThanOrEqual(6)
})

test('consecutive pages return every node once', async () => {
  const names: string[] = []
  let after: string | null = null
  do {
    const { list }: Listed = await t.ask<Listed>(operator, page(''), { first: 2, after })
    names.push(...list.edges.map(({ node }) => node.name))
    after = list.pageInfo.hasNextPage ? list.pageInfo.endCursor : null
  } while (after)
  const all = await t.ask<Listed>(operator, page(''), { first: 500 })
  expect(names).toEqual(all.list.edges.map(({ node }) => node.name))
})

test('rejects the list without authentication', async () => {
  const { data, errors } = await t.send(null, page(''))
  expect(data).toBeNull()
  expect(errors![0]!.extensions.code).toBe('UNAUTHENTICATED')
})

test('includes child groups and query groups in memberships, counts, filters and facets', async () => {
  const early = (await readGroupTree(t.runtime.db, operator)).byName.get('early')!
  const nested = await createNodeGroup(operator, {
    name: 'nested',
    parentId: early.id,
    memberQuery: 'tag = even and name != gpu001',
  })
  try {
    const { nodes } = await t.ask<{ nodes: { edges: { node: { name: string; groups: { name: string }[] } }[] } }>(
      operator,
      '{ nodes(first: 3) { edges { node { name groups { name } } } } }',
    )
    expect(nodes.edges.map(({ node }) => [node.name, ...node.groups.map((group) => group.name)])).toEqual([
      ['gpu001', 'early', 'late'],
      ['gpu002', 'early', 'late'],
      ['gpu003', 'nested', 'early'],
    ])
    const data = await t.ask<Record<string, unknown>>(
      operator,
      `{ nodeGroup(name: "early") { nodeCount parent { name } children { edges { node { name memberQuery parent { name } nodeCount } } } nodes(first: 3) { totalCount edges { node { name } } }
          deleteBlockedReason setMembersBlockedReason }
        nested: nodeGroup(name: "nested") { setMembersBlockedReason deleteBlockedReason exclusiveSet }
        nodes(filter: { group: ["early"], query: "not name = gpu002" }) { totalCount edges { node { name } } }
        nodeFacets { groups { value count } } }`,
    )
    expect(data).toEqual({
      nodeGroup: {
        nodeCount: 7,
        parent: null,
        children: {
          edges: [{ node: { name: 'nested', memberQuery: nested.memberQuery, parent: { name: 'early' }, nodeCount: 5 } }],
        },
        nodes: { totalCount: 7, edges: ['gpu001', 'gpu002', 'gpu003'].map((name) => ({ node: { name } })) },
        deleteBlockedReason: expect.stringContaining('The group early has the child groups nested'),
        setMembersBlockedReason: null,
      },
      nested: {
        setMembersBlockedReason: expect.stringContaining('has a member query'),
        deleteBlockedReason: null,
        exclusiveSet: null,
      },
      nodes: {
        totalCount: 6,
        edges: ['gpu001', 'gpu003', 'gpu005', 'gpu007', 'gpu009', 'gpu011'].map((name) => ({ node: { name } })),
      },
      nodeFacets: {
        groups: [
          { value: 'early', count: 7 },
          { value: 'nested', count: 5 },
          { value: 'late', count: 2 },
        ],
      },
    })
  } finally {
    await deleteNodeGroup(operator, { id: nested.id })
  }
})

test('reports an invalid query with the path of the field', async () => {
  const { errors } = await t.send(operator, '{ nodes(filter: { query: "tagg = a" }) { totalCount } }')
  expect(errors![0]!.message).toMatch(/filter.query: at character 1, "tagg": unknown field; fields are name/)
})

test('the number of statements is independent of the page size', async () => {
  await t.given.fleet(operator, { nodes: 600, prefix: 'many', accelerators: 1 })
  await t.tokenOf(operator)
  for (const rest of ['', 'viewer { kind }']) {
    const counts = []
    for (const first of [10, 100, 500]) {
      const { result, count } = await countStatements(t, () =>
        t.ask<Page>(
          operator,
          `query ($first: Int!) { nodes(first: $first) { totalCount edges { node { id name status health { status reason } accelerators { model health } acceleratorSummary { count } groups { name } credential { name nodeCount } latestDiscovery { status } latestConnectionTest { isOk } runs(first: 1) { totalCount } purgeBlockedReason } } } ${rest} }`,
          { first },
        ),
      )
      expect(result.nodes.edges).toHaveLength(first)
      counts.push(count)
    }
    expect(new Set(counts).size).toBe(1)
    expect(counts[0]).toBeGreaterThan(0)
    expect(counts[0]).toBeLessThanOrEqual(6)
  }
})

test('totalCount of a nested list counts all its objects, not those on the page', async () => {
  const { nodeGroups, computeNode } = await t.ask<{
    nodeGroups: { edges: { node: { nodeCount: number; nodes: Page['nodes'] } }[] }
    computeNode: { runs: { totalCount: number }; discoveries: { totalCount: number } }
  }>(
    operator,
    '{ nodeGroups { edges { node { name nodeCount nodes(first: 1) { totalCount edges { node { name } } pageInfo { hasNextPage } } } } } computeNode(name: "gpu001") { runs { totalCount } discoveries(first: 1) { totalCount edges { node { id } } } } }',
  )
  for (const { node } of nodeGroups.edges) {
    expect(node).toMatchObject({ nodeCount: 2, nodes: { totalCount: 2, pageInfo: { hasNextPage: true } } })
    expect(node.nodes.edges).toHaveLength(1)
  }
  expect(computeNode).toMatchObject({ runs: { totalCount: 0 }, discoveries: { totalCount: 0 } })
})

test('returns accelerator summaries and facets', async () => {
  const data = await t.ask<{ computeNode: object; nodeFacets: Record<string, { value: string; count: number }[]> }>(
    operator,
    '{ computeNode(name: "gpu001") { health { status reason } acceleratorSummary { deviceType model count worstHealth memoryTotalBytes } groups { name } hostKeyAlarm { isChanged } } nodeFacets { tags { value count } statuses { value count } oses { value count } arches { value count } deviceTypes { value count } models { value count } racks { value count } groups { value count } } }',
  )
  expect(data.computeNode).toEqual({
    health: { status: 'DEGRADED', reason: 'Accelerator 0 has the health WARNING.' },
    acceleratorSummary: [
      { deviceType: 'AMD_GPU', model: 'MI300X', count: 2, worstHealth: 'WARNING', memoryTotalBytes: 171041619968 },
    ],
    groups: [{ name: 'early' }, { name: 'late' }],
    hostKeyAlarm: null,
  })
  expect(data.nodeFacets).toMatchObject({
    oses: [
      { value: 'rocky', count: 8 },
      { value: 'debian', count: 4 },
    ],
    racks: [{ value: 'A1', count: 1 }],
    groups: [
      { value: 'early', count: 2 },
      { value: 'late', count: 2 },
    ],
  })
  expect(data.nodeFacets.deviceTypes).toContainEqual({ value: 'AMD_GPU', count: 1 })
  expect(data.nodeFacets.statuses).toContainEqual({ value: 'NEW', count: 1 })
})

test('counts the nodes of each overall health as the filter does', async () => {
  const filters = NODE_HEALTH_STATUSES.map((status) => `${status}: nodes(filter: { health: [${status}] }) { totalCount }`)
  const { nodeFacets, ...filtered } = await t.ask<
    { nodeFacets: { healthStatuses: { value: string; count: number }[] } } & Record<string, { totalCount: number }>
  >(operator, `{ nodeFacets { healthStatuses { value count } } ${filters.join(' ')} }`)
  const counts = Object.entries(filtered).map(([value, { totalCount }]) => ({ value, count: totalCount }))
  expect(nodeFacets.healthStatuses).toEqual(counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count))
  expect(nodeFacets.healthStatuses).toContainEqual({ value: 'DEGRADED', count: 1 })
})
