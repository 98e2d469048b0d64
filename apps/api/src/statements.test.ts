import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { consoleQuery, insertAgentsOfNodes, insertMany, insertRuns } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from './testing/api.ts'
import { countStatements } from './testing/count-statements.ts'

const SIZES = [10, 100, 500]
const MAX_STATEMENTS = 6

let t: Awaited<ReturnType<typeof testApi>>
let operator: Ctx

// A tenant with more of everything than the largest page shows, with groups by hand, by query and through a parent.
beforeAll(async () => {
  t = await testApi()
  const tenant = await t.given.tenant()
  operator = tenant.operator
  const credential = await t.given.credential(tenant.admin, 'SSH_KEY')
  const nodes = await t.given.fleet(operator, {
    nodes: 510,
    hardware: { limit: 2 },
    with: (i) => ({ tags: [i % 2 ? 'odd' : 'even'], credentialId: credential.id }),
  })
  await insertAgentsOfNodes(operator, nodes)
  const parent = await createNodeGroup(operator, { name: 'all_of_them' })
  const byHand = await createNodeGroup(operator, { name: 'by_hand', parentId: parent.id })
  await setNodeGroupMembers(operator, { id: byHand.id, add: nodes.slice(0, 505).map(({ id }) => id) })
  await createNodeGroup(operator, { name: 'by_query', parentId: parent.id, memberQuery: 'tag = even' })
  await insertRuns(
    operator,
    nodes.map((node, i) => ({ status: i % 2 ? 'SUCCEEDED' : 'FAILED', nodes: [node], lines: 1 })),
  )
  await insertMany(
    t.runtime.db,
    schema.alerts,
    nodes.map(({ id, tenantId }) => ({
      id,
      tenantId,
      nodeId: id,
      kind: 'key_shared' as const,
      severity: 'critical' as const,
      key: id,
    })),
  )
  await t.tokenOf(operator)
})
afterAll(() => t?.close())

type Page = Record<string, { edges: unknown[] }>

/** How many statements pages of each size take. */
async function statementsOf(query: string, variables: object = {}): Promise<number[]> {
  const counts = []
  for (const first of SIZES) {
    const { result, count } = await countStatements(t.runtime.db, () => t.ask<Page>(operator, query, { ...variables, first }))
    expect(Object.values(result)[0]!.edges).toHaveLength(first)
    counts.push(count)
  }
  return counts
}

test.for<[title: string, query: () => string, variables?: object]>([
  ['the node list of the console', () => consoleQuery('Nodes')],
  ['the node list in another order', () => consoleQuery('Nodes'), { orderBy: { field: 'NAME', direction: 'DESC' } }],
  ['the node list of a group', () => consoleQuery('Nodes'), { filter: { group: ['all_of_them'], status: ['READY'] } }],
  ['the node ids of the console', () => consoleQuery('NodeIds')],
  ['the run list of the console', () => consoleQuery('Runs')],
  ['the alert list of the console', () => consoleQuery('Alerts')],
  [
    'nodes with their groups, by whatever way they are in them',
    () => `query ($first: Int!) { nodes(first: $first) { edges { node {
      id name groups { id name memberQuery parent { name } } again: groups { name } accelerators { id model } agent { state node { name } } credential { name }
    } } } }`,
  ],
  [
    'runs with what happened on their hosts',
    () => `query ($first: Int!) { jobRuns(first: $first) { totalCount edges { node {
      id hostSummary { result count } template { name } parent { id } retries { id } retryBlockedReason
    } } } }`,
  ],
])('%s takes the same number of statements for every page size', async ([, query, variables]) => {
  const counts = await statementsOf(query(), variables)
  expect(new Set(counts).size).toBe(1)
  expect(counts[0]).toBeGreaterThan(0)
  expect(counts[0]).toBeLessThanOrEqual(MAX_STATEMENTS)
})

test('the fleet of the console takes one statement', async () => {
  const { count } = await countStatements(t.runtime.db, () => t.ask(operator, consoleQuery('AgentFleet')))
  expect(count).toBe(1)
})
