import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { auditEntries } from '@muster/core/audit'
import { setNodeBmc } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { LOOPBACK, slurmNode, type TenantFixture } from '@muster/core/testing'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { MAX_READS } from '../limits.ts'
import { testApi } from '../testing/api.ts'
import { type HttpServer, serveHttp } from './server.ts'

const { nodeGroupMembers, nodeGroups, powerRuns, slurmClusters, slurmNodes, slurmPowerSavings } = schema
const SETTINGS = {
  ...{ suspendTimeSeconds: 600, suspendTimeoutSeconds: 300, resumeTimeoutSeconds: 600, suspendRate: 60, resumeRate: 60 },
  ...{ excludedNodes: null, excludedPartitions: [], apiUrl: 'https://muster.example.org', caCertificate: null },
}

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
})

type Cluster = { ours: TenantFixture; id: string; token: string }
/** A cluster with power saving and the node n1, which has a BMC. */
async function cluster(): Promise<Cluster> {
  const { db } = t.runtime
  const ours = await t.given.tenant()
  const tenantId = ours.tenant.id
  const [controller, node] = await t.given.fleet(ours.admin, { nodes: 2 })
  const [group] = await db.insert(nodeGroups).values({ tenantId, name: 'slurm_prod' }).returning()
  await db.insert(nodeGroupMembers).values([controller!, node!].map(({ id }) => ({ groupId: group!.id, nodeId: id })))
  const [row] = await db
    .insert(slurmClusters)
    .values({
      ...{ tenantId, name: 'prod', kind: 'MANAGED', createdByName: 'test' },
      ...{ controllerNodeId: controller!.id, nodeGroupId: group!.id },
    })
    .returning()
  await db.insert(slurmNodes).values({
    ...{ tenantId, clusterId: row!.id, name: 'n1', nodeId: node!.id, states: ['IDLE'], state: 'IDLE', partitions: [] },
    ...{ cpus: 1, allocatedCpus: 0, gpus: 0, allocatedGpus: 0, report: slurmNode('n1') },
  })
  const { id: credentialId } = await t.given.credential(ours.admin, 'BMC')
  await setNodeBmc(ours.admin, { nodeId: node!.id, address: '127.0.0.1', port: 1, credentialId }, LOOPBACK)
  const token = `msp_${randomBytes(32).toString('base64url')}`
  const tokenHashes = [createHash('sha256').update(token).digest('hex')]
  await db.insert(slurmPowerSavings).values({ tenantId, clusterId: row!.id, settings: SETTINGS, tokenHashes })
  return { ours, id: row!.id, token }
}

const call = async (token: string | null, body: unknown, { method = 'POST', type = 'application/json' } = {}) => {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/slurm/power`, {
    method,
    headers: { 'content-type': type, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const suspend = (nodes: string) => ({ verb: 'SUSPEND', nodes })
const runsOf = ({ ours }: Cluster) => t.runtime.db.select().from(powerRuns).where(eq(powerRuns.tenantId, ours.tenant.id))

test('starts a power run in the name of slurmctld, and audits the request', async () => {
  const ours = await cluster()
  expect(await call(ours.token, suspend('n1,n2'))).toEqual({
    status: 200,
    body: {
      accepted: 'n1',
      waiting: [],
      refused: [{ name: 'n2', reason: expect.stringContaining('no node that Muster added') }],
    },
  })
  expect(await runsOf(ours)).toMatchObject([
    { action: 'OFF', createdByName: 'slurmctld of prod', createdById: null, slurmClusterId: ours.id, isForced: false },
  ])
  const [entry] = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, ours.ours.tenant.id), eq(auditEntries.action, 'slurm_power.request')))
  expect(entry).toMatchObject({ actorName: 'slurmctld of prod', outcome: 'succeeded' })
})

test('a token powers only nodes of its own cluster, and permits nothing else', async () => {
  const [ours, others] = [await cluster(), await cluster()]
  await call(ours.token, suspend('n1'))
  expect([(await runsOf(ours)).length, (await runsOf(others)).length]).toEqual([1, 0])
  for (const path of ['/graphql', '/api/inventory', '/api/slurm/clusters']) {
    const headers = { authorization: `Bearer ${ours.token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ query: '{ nodes(first: 1) { totalCount } }' })
    const request = path === '/graphql' ? { method: 'POST', headers, body } : { headers }
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, request)
    expect([path, await response.text()]).toEqual([path, expect.stringMatching(/UNAUTHENTICATED|token/i)])
  }
})

test('rejects unknown and revoked tokens, users, and malformed requests', async () => {
  const ours = await cluster()
  const unknown = `msp_${randomBytes(32).toString('base64url')}`
  for (const token of [null, unknown, 'msp_', await t.tokenOf(ours.ours.owner)])
    expect(await call(token, suspend('n1'))).toMatchObject({ status: 401 })
  for (const body of [
    '',
    '[]',
    'null',
    '{',
    {},
    { verb: 'OFF', nodes: 'n1' },
    suspend('n[1-'),
    { verb: 'RESUME', nodes: ['n1'] },
  ])
    expect([body, (await call(ours.token, body)).status]).toEqual([body, 400])
  expect(await call(ours.token, suspend(`n1,${'x'.repeat(1 << 20)}`))).toMatchObject({ status: 400 })
  expect(await call(ours.token, suspend('n1'), { type: 'text/plain' })).toMatchObject({ status: 415 })
  expect(await call(ours.token, null, { method: 'GET' })).toMatchObject({ status: 405 })
  expect(await runsOf(ours)).toEqual([])
  await t.runtime.db.delete(slurmPowerSavings).where(eq(slurmPowerSavings.clusterId, ours.id))
  expect(await call(ours.token, suspend('n1'))).toMatchObject({ status: 401 })
})

test('requests without a valid token take no place of controllers, and are limited for each address', async () => {
  const ours = await cluster()
  const unknown = `msp_${randomBytes(32).toString('base64url')}`
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${ours.token}`, 'content-length': 100 }
  const open = Array.from({ length: 32 }, () => {
    const sent = request({ port: server.port, host: '127.0.0.1', method: 'POST', path: '/api/slurm/power', headers })
    sent.on('error', () => {}).write('{')
    return sent
  })
  await vi.waitFor(async () => expect(await call(ours.token, {})).toMatchObject({ status: 429 }))
  expect(await call(unknown, suspend('n1'))).toMatchObject({ status: 401 })
  for (const sent of open) sent.destroy()
  await vi.waitFor(async () => expect(await call(ours.token, {})).toMatchObject({ status: 400 }))
  const statuses: number[] = []
  const ended = await t.runtime.db.transaction(async (tx) => {
    await tx.execute(sql`lock table ${slurmPowerSavings} in access exclusive mode`)
    const all = Array.from({ length: MAX_READS + 5 }, async () => statuses.push((await call(unknown, suspend('n1'))).status))
    await vi.waitFor(() => expect(statuses).toEqual(Array.from({ length: 5 }, () => 429)))
    return all
  })
  await Promise.all(ended)
  expect(statuses.filter((status) => status === 401)).toHaveLength(MAX_READS)
})
