import { gzipSync } from 'node:zlib'
import { appointInstallationAdmin, createTenant, inviteMember } from '@muster/core/access'
import { createEnrollmentToken } from '@muster/core/agents'
import { createAlertRoute, createAlertSilence } from '@muster/core/alerts'
import { createAuditSink } from '@muster/core/audit-sinks'
import { assignBootProfile, createBootProfile } from '@muster/core/boot-profiles'
import { createBootRule } from '@muster/core/boot-service'
import { createSecretStore } from '@muster/core/credentials'
import { createGrant } from '@muster/core/grants'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { recordNodeChanges, updateLedgerSettings } from '@muster/core/ledger'
import type { Ctx } from '@muster/core/registry'
import { schema as tables } from '@muster/core/registry'
import { setMaxConcurrentRuns } from '@muster/core/run-queue'
import { createSchedule } from '@muster/core/schedules'
import { consoleQuery, insertAgentsOfNodes, insertMany, insertRuns } from '@muster/core/testing'
import { createTrigger } from '@muster/core/triggers'
import { registerWorker } from '@muster/core/workers'
import { eq, sql } from 'drizzle-orm'
import {
  type GraphQLField,
  type GraphQLFieldMap,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schema } from './schema.ts'
import { testApi } from './testing/api.ts'
import { countStatements } from './testing/count-statements.ts'

const SIZES = [10, 100, 500]
const MAX_STATEMENTS = 6

let t: Awaited<ReturnType<typeof testApi>>
let operator: Ctx
let admin: Ctx
let installationAdmin: Ctx

// A tenant with more of everything than the largest page shows, with groups by hand, by query and through a parent.
beforeAll(async () => {
  t = await testApi()
  const tenant = await t.given.tenant()
  operator = tenant.operator
  admin = tenant.admin
  installationAdmin = tenant.installationAdmin
  for (const role of ['viewer', 'operator'])
    await appointInstallationAdmin(installationAdmin, { email: `${role}@${tenant.tenant.name}.test` })
  const credential = await t.given.credential(admin, 'SSH_KEY')
  for (const kind of ['BASTION', 'BECOME'] as const) await t.given.credential(admin, kind)
  const nodes = await t.given.fleet(operator, {
    nodes: 510,
    hardware: { limit: 2 },
    with: (i) => ({ tags: [i % 2 ? 'odd' : 'even'], credentialId: credential.id }),
  })
  await insertAgentsOfNodes(operator, nodes)
  await updateLedgerSettings(admin, { isEnabled: true })
  await recordNodeChanges(t.runtime)
  const parent = await createNodeGroup(operator, { name: 'all_of_them' })
  const byHand = await createNodeGroup(operator, { name: 'by_hand', parentId: parent.id })
  await setNodeGroupMembers(operator, { id: byHand.id, addNodeIds: nodes.slice(0, 505).map(({ id }) => id) })
  await createNodeGroup(operator, { name: 'by_query', parentId: parent.id, memberQuery: 'tag = even' })
  await insertRuns(
    operator,
    nodes.map((node, i) => ({ status: i % 2 ? 'SUCCEEDED' : 'FAILED', nodes: [node], lines: 1 })),
  )
  // The newest runs, so the first page shows them: only the second one waits for another run.
  const queued = [nodes[0]!, nodes[0]!, nodes[1]!]
  const pending = await insertRuns(
    operator,
    queued.map((node) => ({ status: 'PENDING', nodes: [node], columns: { isReadOnly: false } })),
  )
  await insertMany(
    t.runtime.db,
    tables.nodeLocks,
    pending.map(({ id }, i) => ({ jobRunId: id, nodeId: queued[i]!.id })),
  )
  const clusters = nodes.slice(0, 3).map(({ id, tenantId, name }) => ({
    ...{ id, tenantId, name, kind: 'EXTERNAL' as const, controllerNodeId: id, createdByName: 'admin' },
  }))
  await insertMany(t.runtime.db, tables.slurmClusters, clusters)
  await setMaxConcurrentRuns(tenant.installationAdmin, { maxConcurrentRuns: 1 })
  const discoveries = nodes.slice(0, 3).map(({ id, tenantId }) => ({ id, tenantId, nodeId: id, reason: 'refresh' as const }))
  await insertMany(t.runtime.db, tables.discoveries, discoveries)
  await t.runtime.db
    .insert(tables.discoveryEvidence)
    .values(discoveries.map(({ id }) => ({ discoveryId: id, gzip: gzipSync('evidence') })))
  await insertMany(
    t.runtime.db,
    tables.alerts,
    nodes.map(({ id, tenantId }) => ({
      id,
      tenantId,
      nodeId: id,
      kind: 'key_shared' as const,
      severity: 'critical' as const,
      key: id,
    })),
  )
  for (const name of ['a', 'b', 'c']) await inviteMember(tenant.owner, { email: `${name}@invited.test`, role: 'viewer' })
  const { id: tenantId } = tenant.tenant
  const viewer = await t.runtime.db.query.members.findFirst({ where: { tenantId, role: 'viewer' } })
  const template = await t.runtime.db.query.jobTemplates.findFirst({ where: { tenantId } })
  const worker = { host: 'h', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 1 }
  const base = await createBootProfile(admin, { name: 'z' })
  for (const name of ['a', 'b', 'c']) {
    await createAlertRoute(admin, {
      name,
      kind: 'webhook',
      url: 'https://192.0.2.1',
      secret: 'a secret of 16 characters',
      matcher: {},
    })
    await createAuditSink(tenant.owner, { name, kind: 'syslog', host: '192.0.2.1' })
    await createAlertSilence(admin, { matcher: {}, reason: name, endsAt: new Date(Date.now() + 3_600_000) })
    await createEnrollmentToken(admin, {})
    await createTenant(t.runtime, { name: `tenant ${name}` })
    await inviteMember(admin, { email: `${name}@invited.test`, role: 'viewer' })
    await createGrant(admin, {
      memberId: viewer!.id,
      role: 'operator',
      nodeGroupId: parent.id,
      jobTemplateIds: [template!.id],
      credentialIds: [credential.id],
    })
    await createSchedule(operator, { name, target: 'run', template: template!.name, limit: 'gpu001', rule: '@daily' })
    await createTrigger(operator, { name, template: template!.name, limit: 'gpu001' })
    await createSecretStore(admin, { name, address: 'https://vault.test', auth: 'TOKEN', secret: 'token' })
    await registerWorker(t.runtime, { name, ...worker })
    const profile = await createBootProfile(admin, { name, parentId: base.id, kernel: { url: 'http://192.0.2.1/k' } })
    await assignBootProfile(admin, { profileId: profile.id, groupIds: [byHand.id], nodeIds: [nodes[0]!.id] })
    await createBootRule(admin, {
      name,
      names: `${name}[1-9]`,
      macPrefixes: ['02:00:5e'],
      groupId: parent.id,
      profileId: profile.id,
    })
    const own = { tenantId, createdByName: name }
    const [cluster] = await t.runtime.db
      .insert(tables.slurmClusters)
      .values({ ...own, name, kind: 'EXTERNAL' })
      .returning()
    const files = { 'slurm.conf': 'ClusterName=a\nSlurmctldHost=b\n' }
    const version = { ...own, clusterId: cluster!.id, number: 1, files, origin: 'IMPORTED' as const, reason: name }
    await t.runtime.db.insert(tables.slurmConfigVersions).values(version)
    await t.runtime.db
      .insert(tables.slurmConfigSnippets)
      .values({ ...own, name, updatedByName: name, files, clusterIds: [cluster!.id] })
    const [action] = await t.runtime.db
      .insert(tables.slurmActions)
      .values({
        ...{ ...own, clusterId: cluster!.id, verb: 'RESUME_NODES', action: { verb: 'RESUME_NODES' } },
        ...{ reason: name, targetCount: 1 },
      })
      .returning()
    await t.runtime.db.insert(tables.slurmActionItems).values({ tenantId, actionId: action!.id, target: name, result: 'DONE' })
    const [powerRun] = await t.runtime.db
      .insert(tables.powerRuns)
      .values({ ...own, action: 'ON', reason: name, parallelism: 1, delaySeconds: 0, targetCount: 1 })
      .returning()
    const [discovery] = await t.runtime.db
      .insert(tables.bmcDiscoveries)
      .values({ ...own, addresses: ['10.0.0.1'], protocol: 'REDFISH', port: 443, addressCount: 1 })
      .returning()
    await t.runtime.db.insert(tables.foundBmcs).values({ tenantId, discoveryId: discovery!.id, address: '10.0.0.1', port: 443 })
    const item = { tenantId, runId: powerRun!.id, nodeName: name, result: 'DONE' as const }
    await t.runtime.db.insert(tables.powerRunItems).values(item)
    await t.runtime.db.insert(tables.playbookBundles).values({
      tenantId: tenant.tenant.id,
      name,
      sha256: name,
      size: 1,
      content: Buffer.from('-'),
      files: [],
      createdByName: name,
    })
  }
  await t.runtime.db
    .insert(tables.unknownMachines)
    .values(['01', '02', '03'].map((mac) => ({ tenantId, mac: `02:00:00:00:00:${mac}` })))
  await t.runtime.db
    .update(tables.jobRunHosts)
    .set({ failureSignature: sql`${tables.jobRunHosts.name}` })
    .where(eq(tables.jobRunHosts.result, 'FAILED'))
  for (const ctx of [operator, admin, tenant.viewer, installationAdmin]) await t.tokenOf(ctx)
})
afterAll(() => t?.close())

type Page = Record<string, { edges: unknown[] }>

/** How many statements pages of each size take. */
async function statementsOf(query: string, variables: object = {}): Promise<number[]> {
  const counts = []
  for (const first of SIZES) {
    const { result, count } = await countStatements(t, () => t.ask<Page>(operator, query, { ...variables, first }))
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

const fieldsOf = (type: GraphQLNamedType): GraphQLFieldMap<unknown, unknown> => (isObjectType(type) ? type.getFields() : {})

/** Root lists by name, each with the type of its objects. Not those of a signed-in user, because a token has none. */
const OF_USER = ['passkeys', 'sessions']
const lists = Object.values(schema.getQueryType()!.getFields()).flatMap((field) => {
  const type = nodeTypeOf(field.type)
  return type && !OF_USER.includes(field.name) ? [{ list: field.name, type }] : []
})

/** The object type that a connection lists; null for other types. */
function nodeTypeOf(type: GraphQLOutputType): GraphQLObjectType | null {
  const edges = fieldsOf(getNamedType(type)).edges
  const node = edges && getNamedType(fieldsOf(getNamedType(edges.type)).node!.type)
  return isObjectType(node) ? node : null
}

/** Selects all leaves of the field's object, or a page of its list. */
function selectionOf({ name, type, args }: GraphQLField<unknown, unknown>): string {
  const leaves = (of: GraphQLNamedType): string => {
    const names = Object.values(fieldsOf(of)).filter((field) => isLeafType(getNamedType(field.type)) && field.args.length === 0)
    return `{ __typename ${names.map((field) => field.name).join(' ')} }`
  }
  const named = getNamedType(type)
  const item = nodeTypeOf(type)
  const page = args.some((arg) => arg.name === 'first') ? '(first: 2)' : ''
  const count = fieldsOf(named).totalCount ? 'totalCount' : ''
  return `${name}${page} ${isLeafType(named) ? '' : item ? `{ ${count} edges { node ${leaves(item)} } }` : leaves(named)}`
}

test('the first pages show pending runs and discoveries with evidence', async () => {
  const { jobRuns, nodes } = await t.ask<Record<string, { edges: { node: object }[] }>>(
    operator,
    `{ jobRuns(first: 3) { edges { node { queuePosition waitingReason waitingFor { count } } } }
      nodes(first: 3) { edges { node { latestDiscovery { evidence } discoveries(first: 1) { edges { node { evidence } } } } } } }`,
  )
  const free = { waitingReason: expect.stringMatching(/worker/), waitingFor: [] }
  expect(jobRuns!.edges.map(({ node }) => node)).toEqual([
    { queuePosition: 3, ...free },
    { queuePosition: 2, waitingReason: expect.stringContaining('is ahead in the queue for'), waitingFor: [{ count: 1 }] },
    { queuePosition: 1, ...free },
  ])
  const discovery = { evidence: 'evidence' }
  expect(nodes!.edges.map(({ node }) => node)).toEqual(
    Array(3).fill({ latestDiscovery: discovery, discoveries: { edges: [{ node: discovery }] } }),
  )
})

test.each(lists)(
  'each field of $list takes the same number of statements for two objects as for three',
  async ({ list, type }) => {
    const errors: string[] = []
    const caller = list === 'tenants' || list === 'installationAdmins' ? installationAdmin : admin
    for (const field of Object.values(type.getFields())) {
      if (field.args.some(isRequiredArgument)) continue
      const counts = []
      for (const first of [2, 3]) {
        const query = `{ ${list}(first: ${first}) { edges { node { ${selectionOf(field)} } } } }`
        const { result, count } = await countStatements(t, () => t.ask<Page>(caller, query))
        expect(result[list]!.edges).toHaveLength(first)
        counts.push(count)
      }
      if (counts[0] !== counts[1] || counts[0]! > MAX_STATEMENTS) errors.push(`${field.name}: ${counts.join(' and ')} statements`)
    }
    expect(errors).toEqual([])
  },
)

test('the fleet of the console takes one statement', async () => {
  const { count } = await countStatements(t, () => t.ask(operator, consoleQuery('AgentFleet')))
  expect(count).toBe(1)
})
