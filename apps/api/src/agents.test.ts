import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import WebSocket from 'ws'
import { globalId } from './graphql/shared/ids.ts'
import { type HttpServer, serveHttp } from './http/server.ts'
import { testApi } from './testing/api.ts'
import { countStatements } from './testing/count-statements.ts'
import { mutate } from './testing/mutate.ts'

const { agentHeartbeatHistory, agentHeartbeats, agentKeys, agentReports, agents, agentTransitions, alerts, computeNodes } = schema

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let fixture: TenantFixture
let operator: TenantFixture['operator']
let nodes: { id: string; name: string }[]

/** Inserts agents with a heartbeat for `some` nodes. */
async function insertAgentsOf(ctx: Ctx, some: { id: string; name: string }[], cluster: string) {
  const { tenantId } = ctx
  const { db } = t.runtime
  await db.insert(agents).values(
    some.map(({ id, name }, i) => ({
      nodeId: id,
      tenantId,
      agentId: name,
      cluster,
      state: i % 3 === 1 ? ('STALE' as const) : ('ACTIVE' as const),
      stateSince: new Date(Date.now() - 60_000),
    })),
  )
  await db.insert(agentHeartbeats).values(
    some.map(({ id }, i) => ({
      nodeId: id,
      bootEpoch: 0,
      sequence: i + 1,
      accepted: 10,
      missed: i === 0 ? 2 : 0,
      receivedAt: new Date(Date.now() - 60_000),
      skewMs: 40,
      cpuPercent: i * 10.4,
    })),
  )
}

beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  fixture = await t.given.tenant()
  operator = fixture.operator
  const { db } = t.runtime
  nodes = await t.given.fleet(operator, { nodes: 7 })
  const [first] = nodes
  await insertAgentsOf(operator, nodes.slice(0, 4), 'training')
  await insertAgentsOf(operator, nodes.slice(4, 6), 'lab')
  await db.update(computeNodes).set({ region: 'eu', datacenter: 'fi1' }).where(eq(computeNodes.name, first!.name))
  const values = { tenantId: operator.tenantId, nodeId: first!.id }
  await db
    .insert(agentKeys)
    .values({ ...values, publicKey: 'AAAA', status: 'WAITING', createdByName: 'agent', seenFrom: '10.0.0.9' })
  await db.insert(agentTransitions).values([
    { ...values, from: null, to: 'PENDING', reason: 'registered', at: new Date('2026-01-01T00:00:00Z') },
    { ...values, from: 'PENDING', to: 'ACTIVE', reason: 'first_heartbeat', at: new Date('2026-01-01T00:00:30Z') },
  ])
  const midnight = sql<Date>`date_trunc('hour', now())`
  await db.insert(agentHeartbeatHistory).values({ nodeId: first!.id, bucketAt: midnight, beats: 10, missed: 2, cpuPercent: 12.5 })
  await db.insert(alerts).values([
    { ...values, kind: 'stale', severity: 'warning', key: `node:${first!.id}` },
    { ...values, kind: 'recovered', severity: 'info', key: `node:${first!.id}`, resolvedAt: new Date() },
    { tenantId: operator.tenantId, cluster: 'lab', kind: 'mass_outage', severity: 'critical', key: 'cluster:lab' },
  ])
  // Must not be visible: agents of another tenant.
  const stranger = (await t.given.tenant()).operator
  await insertAgentsOf(stranger, await t.given.fleet(stranger, { nodes: 2, prefix: 'their' }), 'training')
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
})

test.each([
  [{ agentState: ['STALE'] }, [2, 6]],
  [{ cluster: ['lab', 'nothing'] }, [5, 6]],
  [{ agentState: ['ACTIVE'], cluster: ['training'] }, [1, 3, 4]],
  [{ region: ['eu'] }, [1]],
  [{ datacenter: ['fi1'], agentState: ['STALE'] }, []],
  [{ hasAgentAlarm: true }, [1]],
  [{ hasAgentAlarm: false, hostlist: 'gpu[001-003]' }, [2, 3]],
])('filters nodes by %j in one statement', async (filter, expected) => {
  await t.tokenOf(operator)
  const { result, count } = await countStatements(t, () =>
    t.ask<{ nodes: { edges: { node: { name: string } }[] } }>(
      operator,
      'query ($filter: NodeFilter) { nodes(filter: $filter) { edges { node { name region } } } }',
      { filter },
    ),
  )
  expect(count).toBe(1)
  expect(result.nodes.edges.map(({ node }) => Number(node.name.slice(3)))).toEqual(expected)
})

const AGENT = `agent { agentId state stateReason lastHeartbeat { sequence cpuPercent } trust { check isOk } keys { fingerprint status }
  transitions { from to reason } heartbeatHistory { heartbeats cpuPercent } approveBlockedReason drainError drainBlockedReason resumeBlockedReason }`

test('returns an agent with trust checks, transitions and heartbeat history', async () => {
  const { computeNode } = await t.ask<{ computeNode: object }>(operator, `{ computeNode(name: "gpu001") { region ${AGENT} } }`)
  expect(computeNode).toEqual({
    region: 'eu',
    agent: {
      agentId: 'gpu001',
      state: 'ACTIVE',
      stateReason: 'REGISTERED',
      lastHeartbeat: { sequence: 1, cpuPercent: 0 },
      trust: [
        { check: 'KEY', isOk: false },
        { check: 'SIGNATURE', isOk: true },
        { check: 'HARDWARE', isOk: null },
        { check: 'CLOCK', isOk: true },
        { check: 'SEQUENCE', isOk: false },
        { check: 'ACCEPTANCE', isOk: true },
      ],
      keys: [{ fingerprint: expect.stringMatching(/^SHA256:/), status: 'WAITING' }],
      transitions: [
        { from: 'PENDING', to: 'ACTIVE', reason: 'FIRST_HEARTBEAT' },
        { from: null, to: 'PENDING', reason: 'REGISTERED' },
      ],
      heartbeatHistory: [{ heartbeats: 10, cpuPercent: 12.5 }],
      approveBlockedReason: null,
      drainError: null,
      drainBlockedReason: null,
      resumeBlockedReason: expect.stringContaining('No drain of the agent'),
    },
  })
  const viewer = await t.ask<{ computeNode: { agent: { drainBlockedReason: string } } }>(
    fixture.viewer,
    '{ computeNode(name: "gpu001") { agent { drainBlockedReason } } }',
  )
  expect(viewer.computeNode.agent.drainBlockedReason).toContain('operator')
  const none = await t.ask(operator, `{ computeNode(name: "gpu007") { ${AGENT} } }`)
  expect(none).toEqual({ computeNode: { agent: null } })
})

test('trust names a shared key while its alert is open', async () => {
  const { db } = t.runtime
  const [, second] = nodes
  const trust = async () => {
    const { computeNode } = await t.ask<{ computeNode: { agent: { trust: { message: string }[] } } }>(
      operator,
      '{ computeNode(name: "gpu002") { agent { trust { message } } } }',
    )
    return computeNode.agent.trust[0]!.message
  }
  const sharedKeyAlert = {
    tenantId: operator.tenantId,
    nodeId: second!.id,
    kind: 'key_shared',
    severity: 'critical',
    key: 'x',
  } as const
  const [alert] = await db.insert(alerts).values(sharedKeyAlert).returning()
  expect(await trust()).toContain('Another machine sends heartbeats with the same key')
  await db.update(alerts).set({ resolvedAt: new Date() }).where(eq(alerts.id, alert!.id))
  expect(await trust()).not.toContain('Another machine')
  await db.delete(alerts).where(eq(alerts.id, alert!.id))
})

test('the number of statements is independent of the page size', async () => {
  const counts = []
  for (const first of [2, 6]) {
    const { count } = await countStatements(t, () =>
      t.ask(operator, `query ($first: Int!) { nodes(first: $first) { edges { node { name ${AGENT} } } } }`, { first }),
    )
    counts.push(count)
  }
  expect(counts[0]).toBe(counts[1])
  expect(counts[0]).toBeLessThanOrEqual(6)
})

test('reads the fleet in one statement', async () => {
  const { result, count } = await countStatements(t, () =>
    t.ask<{ agentFleet: { clusters: object[] } }>(
      operator,
      '{ agentFleet { suppressedCount counts { state count } clusters { cluster region datacenter nodes { name state cpuPercent } } } }',
    ),
  )
  expect(count).toBe(1)
  expect(result.agentFleet).toEqual({
    suppressedCount: 0,
    counts: [
      { state: 'ACTIVE', count: 4 },
      { state: 'STALE', count: 2 },
    ],
    clusters: [
      {
        cluster: 'lab',
        region: null,
        datacenter: null,
        nodes: [
          { name: 'gpu005', state: 'ACTIVE', cpuPercent: 0 },
          { name: 'gpu006', state: 'STALE', cpuPercent: 10 },
        ],
      },
      { cluster: 'training', region: 'eu', datacenter: 'fi1', nodes: [{ name: 'gpu001', state: 'ACTIVE', cpuPercent: 0 }] },
      {
        cluster: 'training',
        region: null,
        datacenter: null,
        nodes: [
          { name: 'gpu002', state: 'STALE', cpuPercent: 10 },
          { name: 'gpu003', state: 'ACTIVE', cpuPercent: 21 },
          { name: 'gpu004', state: 'ACTIVE', cpuPercent: 31 },
        ],
      },
    ],
  })
  const some = await t.ask(operator, '{ agentFleet(cluster: "lab") { clusters { nodes { name } } } }')
  expect(some).toEqual({ agentFleet: { clusters: [{ nodes: [{ name: 'gpu005' }, { name: 'gpu006' }] }] } })
})

type Beat = { name: string; sequence: number; state: string }
async function follow(as: Ctx, query: string, variables: Record<string, unknown> = {}) {
  const client = createClient({
    url: `ws://127.0.0.1:${server.port}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${await t.tokenOf(as)}` },
    retryAttempts: 0,
  })
  const batches: Beat[][] = []
  const ended = (async () => {
    for await (const { data } of client.iterate<{ heartbeats: Beat[] }>({ query, variables })) batches.push(data!.heartbeats)
  })()
  ended.catch(() => {})
  return { batches, all: () => batches.flat(), leave: () => client.dispose() }
}
const LIVE =
  'subscription ($nodeId: ID, $cluster: String) { heartbeats(nodeId: $nodeId, cluster: $cluster) { name sequence state } }'

test('streams heartbeats in batches with each node at most once, from one shared reader', async () => {
  const { db } = t.runtime
  const [first, second] = nodes
  const everything = await follow(fixture.viewer, LIVE)
  const lab = await follow(fixture.viewer, LIVE, { cluster: 'lab' })
  const one = await follow(fixture.viewer, LIVE, { nodeId: globalId('ComputeNode', first!.id) })
  // A subscription to one node starts with its current state.
  await expect.poll(() => one.all().length).toBeGreaterThan(0)
  expect(one.all()[0]).toEqual({ name: 'gpu001', sequence: 1, state: 'ACTIVE' })
  const beat = (id: string, sequence: number) =>
    db.update(agentHeartbeats).set({ sequence, receivedAt: sql`now()` }).where(eq(agentHeartbeats.nodeId, id))
  let sequence = 100
  // Repeated until all subscriptions are active.
  await expect
    .poll(async () => {
      sequence += 1
      await beat(first!.id, sequence)
      await beat(nodes[4]!.id, sequence)
      return everything.all().some(({ name }) => name === 'gpu001') && lab.all().length > 0
    })
    .toBe(true)
  await expect.poll(() => one.all().at(-1)!.sequence).toBe(sequence)
  for (const { batches } of [everything, lab, one])
    for (const batch of batches) expect(new Set(batch.map(({ name }) => name)).size).toBe(batch.length)
  expect(new Set(lab.all().map(({ name }) => name))).toEqual(new Set(['gpu005']))
  expect(new Set(one.all().map(({ name }) => name))).toEqual(new Set(['gpu001']))
  expect(everything.all().every(({ name }) => name.startsWith('gpu'))).toBe(true)
  // A state change without a heartbeat is streamed as well.
  await db.update(agents).set({ state: 'OFFLINE', stateSince: sql`now()` }).where(eq(agents.nodeId, second!.id))
  await expect.poll(() => everything.all()).toContainEqual(expect.objectContaining({ name: 'gpu002', state: 'OFFLINE' }))
  for (const each of [everything, lab, one]) await each.leave()
})

test('returns the last heartbeat with the units of the API', async () => {
  const [reporting, sparse] = [nodes[2]!, nodes[3]!]
  const capacity = { cpu_cores_total: 64, cpu_cores_allocated: 16, memory_gb_total: 2, memory_gb_available: 1, gpus_total: 8 }
  const health = {
    status: 'degraded',
    reasons: ['GPU 3 is lost'],
    last_error_message: 'Xid 79',
    uptime_seconds: 5_000_000_000,
    load_average_1m: '1.5',
    load_average_15m: '0.25',
    cpu_utilization_percent: 12.5,
    memory_utilization_percent: 50,
    gpu_utilization_percent: 99.5,
    temperature_celsius: 41.5,
  }
  const device = { index: 3, vendor: 'nvidia', model: 'H100', uuid: 'GPU-3', pci_address: '0000:01:00.0', health: 'lost' }
  const load = { memory_total_bytes: 85_520_809_984, memory_used_bytes: 1, utilization_percent: 2.5, temperature_celsius: 30 }
  const report = {
    timestamp: '2026-01-01T00:00:30+01:00',
    measured_at: '2025-12-31T23:00:00Z',
    agent_version: '0.1.0',
    hardware_fingerprint: 'aa',
    capacity,
    health,
    jobs: { running_count: 1, pending_count: 2, completed_24h: 3 },
    accelerators: [{ ...device, ...load, power_watts: 70.5, ecc_corrected: 5_000_000_000, ecc_uncorrected: 0 }],
    interfaces: [{ name: 'ib0', kind: 'infiniband', state: 'up', speed_mbps: 400_000, errors: 0 }, { name: 'lo' }],
  }
  await t.runtime.db.insert(agentReports).values([
    { nodeId: reporting.id, report, receivedAt: new Date() },
    { nodeId: sparse.id, report: {}, receivedAt: new Date() },
  ])
  const REPORT = `agent { report {
    sentAt measuredAt agentVersion hardwareFingerprint health healthReasons lastErrorMessage uptimeSeconds loadAverages
    cpuPercent memoryPercent acceleratorPercent temperatureCelsius
    cpuCores { total available allocated } memoryBytes { total available } storageBytes { total } acceleratorCounts { total }
    jobs { running pending completed24h failed24h }
    accelerators { index vendor model uuid pciAddress health memoryTotalBytes memoryUsedBytes utilizationPercent temperatureCelsius powerWatts eccCorrected eccUncorrected }
    interfaces { name kind state speedMbps errors } } }`
  type Report = { computeNode: { agent: { report: object | null } } }
  const reportOf = async (name: string) =>
    (await t.ask<Report>(operator, `query ($name: String!) { computeNode(name: $name) { ${REPORT} } }`, { name })).computeNode
      .agent.report
  expect(await reportOf(reporting.name)).toEqual({
    sentAt: '2025-12-31T23:00:30.000Z',
    measuredAt: '2025-12-31T23:00:00.000Z',
    agentVersion: '0.1.0',
    hardwareFingerprint: 'aa',
    health: 'DEGRADED',
    healthReasons: ['GPU 3 is lost'],
    lastErrorMessage: 'Xid 79',
    uptimeSeconds: 5_000_000_000,
    loadAverages: [1.5, null, 0.25],
    cpuPercent: 12.5,
    memoryPercent: 50,
    acceleratorPercent: 99.5,
    temperatureCelsius: 41.5,
    cpuCores: { total: 64, available: null, allocated: 16 },
    memoryBytes: { total: 2 * 1024 ** 3, available: 1024 ** 3 },
    storageBytes: { total: null },
    acceleratorCounts: { total: 8 },
    jobs: { running: 1, pending: 2, completed24h: 3, failed24h: null },
    accelerators: [
      {
        index: 3,
        vendor: 'nvidia',
        model: 'H100',
        uuid: 'GPU-3',
        pciAddress: '0000:01:00.0',
        health: 'LOST',
        memoryTotalBytes: 85_520_809_984,
        memoryUsedBytes: 1,
        utilizationPercent: 2.5,
        temperatureCelsius: 30,
        powerWatts: 70.5,
        eccCorrected: 5_000_000_000,
        eccUncorrected: 0,
      },
    ],
    interfaces: [
      { name: 'ib0', kind: 'INFINIBAND', state: 'up', speedMbps: 400_000, errors: 0 },
      { name: 'lo', kind: null, state: null, speedMbps: null, errors: null },
    ],
  })
  expect(await reportOf(sparse.name)).toMatchObject({
    sentAt: null,
    health: null,
    healthReasons: [],
    loadAverages: null,
    cpuCores: { total: null, available: null, allocated: null },
    jobs: null,
    accelerators: [],
    interfaces: [],
  })
  expect(await reportOf(nodes[0]!.name)).toBeNull()
})

test('filters alerts by the time when they opened', async () => {
  const { operator } = await t.given.tenant()
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
  await t.runtime.db.insert(alerts).values(
    [1, 2, 3].map((minute) => ({
      tenantId: operator.tenantId,
      cluster: `c${minute}`,
      kind: 'mass_outage' as const,
      severity: 'critical' as const,
      key: `cluster:c${minute}`,
      openedAt: at(minute),
    })),
  )
  const openedAt = async (filter: object) => {
    const { alerts } = await t.ask<{ alerts: { totalCount: number; edges: { node: { cluster: string } }[] } }>(
      operator,
      'query ($filter: AlertFilter) { alerts(filter: $filter) { totalCount edges { node { cluster } } } }',
      { filter },
    )
    expect(alerts.totalCount).toBe(alerts.edges.length)
    return alerts.edges.map(({ node }) => node.cluster).sort()
  }
  expect(await openedAt({})).toEqual(['c1', 'c2', 'c3'])
  expect(await openedAt({ openedAfter: at(2) })).toEqual(['c2', 'c3'])
  expect(await openedAt({ openedBefore: at(3) })).toEqual(['c1', 'c2'])
  expect(await openedAt({ openedAfter: at(2), openedBefore: at(3) })).toEqual(['c2'])
  expect(await openedAt({ openedAfter: at(4) })).toEqual([])
})

test('lists, filters and acknowledges alerts', async () => {
  const LIST =
    'query ($filter: AlertFilter) { alerts(filter: $filter) { totalCount edges { node { id message acknowledgedBy { name } acknowledgment } } } }'
  type Alerts = { alerts: { totalCount: number; edges: { node: { id: string; message: string } }[] } }
  const textsOf = async (filter: object) =>
    (await t.ask<Alerts>(operator, LIST, { filter })).alerts.edges.map(({ node }) => node.message)
  expect(await textsOf({})).toHaveLength(3)
  expect(await textsOf({ isOpen: true, severity: ['WARNING'] })).toEqual(['gpu001 missed heartbeats'])
  expect(await textsOf({ isOpen: false })).toEqual(['gpu001 sends heartbeats again'])
  expect(await textsOf({ kind: ['MASS_OUTAGE'] })).toEqual([expect.stringMatching(/^lab: Too many nodes/)])
  const [alert] = (
    await t.ask<Alerts>(operator, LIST, { filter: { nodeId: globalId('ComputeNode', nodes[0]!.id), isOpen: true } })
  ).alerts.edges
  const acknowledge = (as: TenantFixture['viewer']) =>
    mutate(t, as, 'acknowledgeAlerts', 'alerts { acknowledgment node { name } }', { ids: [alert!.node.id], note: 'on it' })
  expect(await acknowledge(operator)).toMatchObject({ alerts: [{ acknowledgment: 'on it', node: { name: 'gpu001' } }] })
  expect(await acknowledge(fixture.viewer)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await textsOf({ isAcknowledged: true })).toEqual(['gpu001 missed heartbeats'])
})
