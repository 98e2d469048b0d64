import { addSlurmCluster } from '@muster/core/clusters'
import { type ComputeNode, computeNodes } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { recordSlurmConfigRollout } from '@muster/core/slurm-configs'
import { createSlurmCluster, storeScaledConfig } from '@muster/core/slurm-scaling'
import { recordRefresh, slurmNode, slurmPartition, type TenantFixture } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { globalId, parseId } from '../../graphql/shared/ids.ts'
import { AUTH_SECRET, PUBLIC_URL, testApi } from '../../testing/api.ts'
import { type HttpServer, serveHttp } from '../server.ts'
import { SLURM_ENDPOINTS } from './endpoints.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let ours: TenantFixture
let others: TenantFixture
let nodes: ComputeNode[]
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  ours = await t.given.tenant()
  others = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  nodes = await t.given.fleet(ours.admin, { nodes: 6, with: { hostKey: HOST_KEY, credentialId } })
  await t.runtime.db
    .update(computeNodes)
    .set({ readyAt: sql`now()`, cpuSockets: 2, cpuCores: 16, cpuThreads: 32, memoryBytes: 64 * 1024 ** 3 })
    .where(eq(computeNodes.tenantId, ours.tenant.id))
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the shape of the body is what the tests check
type Answer = { status: number; body: any; headers: Headers }
type As = TenantFixture['admin'] | { headers: Record<string, string> } | null

async function call(as: As, request: string, body?: unknown, more: Record<string, string> = {}): Promise<Answer> {
  const [method, path] = request.split(' ') as [string, string]
  const caller = !as ? {} : 'headers' in as ? as.headers : { authorization: `Bearer ${await t.tokenOf(as)}` }
  const json: Record<string, string> = method === 'POST' ? { 'content-type': 'application/json' } : {}
  const response = await fetch(`http://127.0.0.1:${server.port}/api/slurm${path}`, {
    method,
    headers: { ...json, ...caller, ...more },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

const nodeId = (i: number) => globalId('ComputeNode', nodes[i]!.id)
const add = async (name: string, i: number) =>
  globalId('SlurmCluster', (await addSlurmCluster(ours.admin, { name, controllerNodeId: nodes[i]!.id })).id)

/** A managed cluster of the nodes 1 and 2, whose operations have ended. */
async function managed(): Promise<string> {
  const operation = await createSlurmCluster(ours.admin, {
    ...{ name: 'managed', controllerNodeId: nodes[1]!.id, computeNodeIds: [nodes[2]!.id], reason: 'test' },
  })
  const lines = ['ClusterName=managed', `SlurmctldHost=${nodes[1]!.name}`, `NodeName=${nodes[2]!.name} CPUs=32 RealMemory=1000`]
  const version = await storeScaledConfig(ours.worker, {
    operation,
    origin: 'CREATED',
    files: { 'slurm.conf': [...lines, 'PartitionName=batch Nodes=ALL Default=YES', ''].join('\n') },
    settings: null,
  })
  await recordSlurmConfigRollout(ours.worker, { clusterId: operation.clusterId, number: version.number })
  await t.runtime.db
    .update(schema.slurmOperations)
    .set({ finishedAt: sql`now()` })
    .where(eq(schema.slurmOperations.id, operation.id))
  return globalId('SlurmCluster', operation.clusterId)
}

const endpoints = Object.entries(SLURM_ENDPOINTS).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, endpoint]) => ({ request: `${method} ${path.slice('/api/slurm'.length)}`, endpoint })),
)

test.each(endpoints)('the operation of $request is valid', ({ endpoint }) => {
  expect(validate(t.api.schema, parse(endpoint.document))).toEqual([])
})

let external: string
let managedId: string
describe('endpoints', () => {
  test('connect adds a cluster once per idempotency key', async () => {
    const input = { name: 'prod', controllerNodeId: nodeId(0), region: 'eu', idempotencyKey: 'once' }
    const first = await call(ours.admin, 'POST /clusters/connect', input)
    expect(first).toMatchObject({ status: 201, body: { name: 'prod', kind: 'EXTERNAL', reuseConfig: true, region: 'eu' } })
    expect(await call(ours.admin, 'POST /clusters/connect', input)).toMatchObject({ status: 201, body: { id: first.body.id } })
    expect(await call(ours.admin, 'POST /clusters/connect', { ...input, idempotencyKey: 'twice' })).toMatchObject({
      ...{ status: 409, body: { code: 'CONFLICT' } },
    })
    external = first.body.id
    managedId = await managed()
    const entries = await t.runtime.db.query.auditEntries.findMany({ where: { tenantId: ours.tenant.id, outcome: 'succeeded' } })
    expect(entries.map(({ action }) => action)).toContain('slurm_cluster.add')
  })

  test('test-connection starts a test and returns it', async () => {
    const { status, body } = await call(ours.operator, 'POST /clusters/test-connection', { nodeId: nodeId(0) })
    expect([status, body]).toMatchObject([202, { node: { id: nodeId(0) }, isOk: null, preview: null }])
    expect(await call(ours.viewer, `GET /clusters/test-connection/${body.id}`)).toMatchObject({ status: 200, body })
    expect((await call(others.owner, `GET /clusters/test-connection/${body.id}`)).status).toBe(404)
  })

  test('clusters are listed in pages', async () => {
    const first = await call(ours.viewer, 'GET /clusters?first=1')
    expect(first).toMatchObject({ status: 200, body: { totalCount: 2, items: [{ name: 'managed', totals: { nodes: 0 } }] } })
    const second = await call(ours.viewer, `GET /clusters?first=1&after=${encodeURIComponent(first.body.nextCursor)}`)
    expect(second.body).toMatchObject({ items: [{ id: external, name: 'prod' }], nextCursor: null })
    expect((await call(others.owner, 'GET /clusters')).body).toEqual({ items: [], totalCount: 0, nextCursor: null })
    expect((await call(ours.viewer, 'GET /clusters?first=501')).body).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'PAGE' })
  })

  test('info and nodes return what the last refresh read', async () => {
    const { id } = parseId(external)!
    await recordRefresh(ours.worker, {
      ...{ id, queries: [], durationMs: 120, error: null },
      state: {
        ...{ clusterName: 'alpha', version: '23.11.4', settings: {}, reservations: [], scheduler: null, controllers: [] },
        ...{ nodes: [slurmNode('n1'), slurmNode('n2')], partitions: [slurmPartition('debug')], jobs: [] },
      },
    })
    const info = await call(ours.viewer, `GET /clusters/${external}/info`)
    expect(info).toMatchObject({
      status: 200,
      body: { id: external, version: '23.11.4', originalClusterName: 'alpha', state: 'OK', totals: { nodes: 2 } },
    })
    expect(info.body.states.nodesByState).toMatchObject([{ nodes: 2, nodeList: 'n[1-2]' }])
    const page = await call(ours.viewer, `GET /clusters/${external}/nodes?first=1`)
    expect(page).toMatchObject({ status: 200, body: { totalCount: 2, items: [{ name: 'n1' }], nextCursor: expect.any(String) } })
  })

  test('refresh requests a refresh', async () => {
    expect(await call(ours.operator, `POST /clusters/${external}/refresh`)).toMatchObject({ status: 202, body: { id: external } })
  })

  test('check names the plan that scale starts', async () => {
    const input = { clusterId: managedId, limit: nodes[3]!.name }
    const check = await call(ours.admin, 'POST /nodes/check', input)
    expect(check).toMatchObject({
      status: 200,
      body: { candidates: [{ node: { id: nodeId(3) }, blockedReason: null, cpus: 32 }] },
    })
    const wrong = await call(ours.admin, 'POST /nodes/scale', { ...input, fingerprint: 'of another plan', reason: 'test' })
    expect(wrong).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    const { fingerprint } = check.body
    const { status, body } = await call(ours.admin, 'POST /nodes/scale', { ...input, fingerprint, reason: 'new racks' })
    expect([status, body]).toMatchObject([202, { kind: 'SCALE_OUT', status: 'PENDING', reason: 'new racks', nodeCount: 1 }])
    expect(await call(ours.viewer, `GET /operations/${body.id}`)).toMatchObject({
      status: 200,
      body: { id: body.id, nodes: { totalCount: 1, items: [{ name: expect.any(String), isFailed: false }], nextCursor: null } },
    })
    expect((await call(others.owner, `GET /operations/${body.id}`)).status).toBe(404)
  })

  test('check-saltstack starts a readiness check and returns it', async () => {
    const input = { clusterId: managedId, nodeIds: [nodeId(4)] }
    const { status, body } = await call(ours.admin, 'POST /nodes/check-saltstack', input)
    const nodes = [{ nodeId: nodeId(4), name: expect.any(String), isReady: null, checks: null }]
    expect([status, body]).toMatchObject([202, { cluster: { id: managedId }, nodes, error: null, finishedAt: null }])
    expect(await call(ours.viewer, `GET /nodes/check-saltstack/${body.id}`)).toMatchObject({ status: 200, body })
    expect((await call(others.owner, `GET /nodes/check-saltstack/${body.id}`)).status).toBe(404)
    const [entry] = await t.runtime.db.query.auditEntries.findMany({
      where: { tenantId: ours.tenant.id, action: 'slurm_readiness.check', outcome: 'succeeded' },
    })
    expect(entry).toBeDefined()
  })

  test('DELETE removes a cluster', async () => {
    const id = await add('spare', 5)
    expect(await call(ours.admin, `DELETE /clusters/${id}`)).toMatchObject({ status: 200, body: { deletedId: id } })
    expect((await call(ours.admin, `GET /clusters/${id}/info`)).status).toBe(404)
  })
})

/** A request of each endpoint that names objects of our tenant. */
const requests = (): { request: string; body?: object; isRestricted?: boolean; isList?: boolean }[] => [
  { request: 'GET /clusters', isList: true },
  { request: 'POST /clusters/connect', body: { name: 'x', controllerNodeId: nodeId(4) }, isRestricted: true },
  { request: 'POST /clusters/test-connection', body: { nodeId: nodeId(4) }, isRestricted: true },
  { request: `GET /clusters/test-connection/${external}` },
  { request: `DELETE /clusters/${external}`, isRestricted: true },
  { request: `GET /clusters/${external}/info` },
  { request: `GET /clusters/${external}/nodes` },
  { request: `POST /clusters/${external}/refresh`, isRestricted: true },
  { request: 'POST /nodes/check', body: { clusterId: managedId, limit: 'all' }, isRestricted: true },
  { request: 'POST /nodes/check-saltstack', body: { clusterId: managedId, nodeIds: [nodeId(4)] }, isRestricted: true },
  { request: `GET /nodes/check-saltstack/${external}` },
  {
    ...{ request: 'POST /nodes/scale', isRestricted: true },
    body: { clusterId: managedId, nodeIds: [nodeId(4)], fingerprint: 'x', reason: 'x' },
  },
  { request: `GET /operations/${external}` },
]

describe('access', () => {
  test('every endpoint has a request here', () => {
    expect(requests()).toHaveLength(endpoints.length)
  })

  test('needs a sign-in', async () => {
    for (const { request, body } of requests()) {
      const { status, headers, body: error } = await call(null, request, body)
      expect([status, headers.get('www-authenticate'), error.code], request).toEqual([401, 'Bearer', 'UNAUTHENTICATED'])
    }
  })

  test('finds nothing of another tenant', async () => {
    for (const { request, body, isList } of requests())
      if (!isList)
        expect(await call(others.owner, request, body), request).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  })

  test('refuses changes and their previews to viewers', async () => {
    for (const { request, body, isRestricted } of requests())
      if (isRestricted)
        expect(await call(ours.viewer, request, body), request).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })

  test('refuses requests of other sites with a cookie', async () => {
    const headers = { cookie: `muster.session_token=${AUTH_SECRET}`, origin: 'https://evil.test' }
    for (const { request, body } of requests())
      expect(await call({ headers }, request, body), request).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', message: expect.stringContaining(`this installation is at ${PUBLIC_URL}`) },
      })
  })
})

describe('invalid requests', () => {
  test.each([
    ['an unknown field', { name: 'x', controllerNodeId: 'y', host: '10.0.0.5' }, 'host'],
    ['a missing field', { controllerNodeId: 'y' }, 'name'],
    ['a wrong type', { name: 'x', controllerNodeId: 'y', maxNodes: 'many' }, 'maxNodes'],
  ])('%s is named', async (_title, input, path) => {
    const { status, body } = await call(ours.admin, 'POST /clusters/connect', input)
    expect([status, body]).toMatchObject([400, { code: 'INVALID_INPUT', issues: [{ path, message: expect.any(String) }] }])
    expect(body.message).toContain(path)
    expect(body.message).not.toContain('$')
  })

  test('an invalid value is named', async () => {
    const { status, body } = await call(ours.admin, 'POST /clusters/connect', { name: '', controllerNodeId: nodeId(4) })
    expect([status, body]).toMatchObject([400, { code: 'INVALID_INPUT', issues: [{ path: 'name' }] }])
  })

  test.each(['{', '"text"', '[1]'])('the body %s is no JSON object', async (text) => {
    expect(await call(ours.admin, 'POST /clusters/connect', text)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', message: 'The body must be a JSON object.' },
    })
  })

  test('fields and parameters that an endpoint lacks are named', async () => {
    const refresh = await call(ours.admin, `POST /clusters/${external}/refresh`, { force: true })
    expect(refresh).toMatchObject({ status: 400, body: { issues: [{ path: 'force' }] } })
    expect(await call(ours.admin, 'GET /clusters?page=2')).toMatchObject({ status: 400, body: { issues: [{ path: 'page' }] } })
    expect(await call(ours.admin, 'GET /clusters?first=ten')).toMatchObject({
      status: 400,
      body: { issues: [{ path: 'first' }] },
    })
  })

  test('method, content type and size are checked', async () => {
    const wrong = await call(ours.admin, 'GET /clusters/connect')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await call(ours.admin, 'POST /clusters/connect', '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    const large = { name: 'x'.repeat(1_000_001), controllerNodeId: 'y' }
    expect(await call(null, 'POST /clusters/connect', large)).toMatchObject({
      status: 413,
      body: { code: 'LIMIT_EXCEEDED', limit: 'BODY' },
    })
  })

  test('a response has the ID of its request', async () => {
    const { headers } = await call(ours.viewer, 'GET /clusters', undefined, { 'x-request-id': 'abc-1' })
    expect(headers.get('x-request-id')).toBe('abc-1')
    expect(headers.get('cache-control')).toBe('no-store')
  })
})
