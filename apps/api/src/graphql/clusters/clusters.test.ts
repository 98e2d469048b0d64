import { addSlurmCluster } from '@muster/core/clusters'
import { schema } from '@muster/core/registry'
import { recordRefresh, slurmJob, slurmNode, slurmPartition, type TenantFixture } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { countStatements } from '../../testing/count-statements.ts'
import { globalId } from '../shared/ids.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

let t: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
let id: string
beforeAll(async () => {
  t = await testApi()
  tenant = await t.given.tenant()
  const nodes = await t.given.fleet(tenant.operator, { nodes: 2, accelerators: 8, with: { hostKey: HOST_KEY } })
  id = (await addSlurmCluster(tenant.admin, { name: 'prod', controllerNodeId: nodes[0]!.id, region: 'eu' })).id
  await t.runtime.db
    .insert(schema.agents)
    .values({ nodeId: nodes[0]!.id, tenantId: tenant.tenant.id, agentId: 'a', cluster: 'alpha' })
  await t.runtime.db.insert(schema.agentHeartbeats).values({ nodeId: nodes[0]!.id, slurmState: 'down', receivedAt: new Date() })
})
afterAll(() => t?.close())

const record = (error: string | null = null) =>
  recordRefresh(tenant.worker, {
    id,
    queries: [],
    durationMs: 120,
    error,
    state: error
      ? null
      : {
          ...{ clusterName: 'alpha', version: '23.11.4', settings: {}, reservations: [], scheduler: null, controllers: [] },
          licenses: [{ name: 'matlab', total: 10, used: 3, free: 6, reserved: 1, isRemote: false }],
          nodes: [slurmNode('gpu001', { cpus: 1 }), slurmNode('n2'), slurmNode('n3', { states: ['DOWN', 'NOT_RESPONDING'] })],
          partitions: [slurmPartition('debug')],
          jobs: [
            slurmJob(1, { nodes: 'n[2-3]', user: 'alice', licenses: 'matlab:3', tres: { cpu: 2, mem: 1024 } }),
            slurmJob(2, { states: ['PENDING'], reason: 'Resources', nodes: '', user: 'bob' }),
            slurmJob(3, { states: ['PENDING'], reason: 'Priority', nodes: '', partition: 'debug,other' }),
          ],
        },
  })
const cluster = async (fields: string) =>
  (await t.ask<{ slurmCluster: Record<string, unknown> }>(tenant.viewer, `{ slurmCluster(name: "prod") { ${fields} } }`))
    .slurmCluster
const names = async (field: string, filter: string, name = 'name') =>
  (
    (await cluster(`it: ${field}(filter: { ${filter} }) { totalCount edges { node { ${name} } } }`)) as never as {
      it: { totalCount: number; edges: { node: Record<string, string> }[] }
    }
  ).it.edges.map(({ node }) => node[name])

test('says whether the data is current, and keeps that of the last success', async () => {
  const fields = 'state failingSince lastError failureCount totals { nodes }'
  expect(await cluster(fields)).toMatchObject({ state: 'WAITING', failingSince: null, totals: { nodes: 0 } })
  await record()
  expect(await cluster(fields)).toMatchObject({ state: 'OK', totals: { nodes: 3 } })
  await record('No controller answers.')
  expect(await cluster(fields)).toMatchObject({
    ...{ state: 'NOT_ANSWERING', failingSince: expect.any(String), lastError: 'No controller answers.', failureCount: 1 },
    totals: { nodes: 3 },
  })
  await record()
})

test('lists licenses, and those of a job with its resources', async () => {
  const found = await cluster(
    'licenses { name total used free reserved isRemote } jobs(filter: { jobId: ["1"] }) { edges { node { licenses tres { name amount } } } }',
  )
  expect(found.licenses).toEqual([{ name: 'matlab', total: 10, used: 3, free: 6, reserved: 1, isRemote: false }])
  const tres = [
    { name: 'cpu', amount: 2 },
    { name: 'mem', amount: 1024 },
  ]
  expect(found.jobs).toEqual({ edges: [{ node: { licenses: 'matlab:3', tres } }] })
})

test('counts nodes, CPUs, GPUs and jobs', async () => {
  const count = 'state nodes cpus allocatedCpus gpus allocatedGpus nodeList'
  expect(
    await cluster(`totals { nodes cpus gpus jobs nodesByState { ${count} } jobsByState { state jobs } pendingReasons { reason jobs } }
      partitions { edges { node { nodesByState { state nodes nodeList } jobsByState { state jobs } } } }`),
  ).toEqual({
    totals: {
      ...{ nodes: 3, cpus: 17, gpus: 12, jobs: 3 },
      nodesByState: [
        { state: 'MIXED', nodes: 2, cpus: 9, allocatedCpus: 4, gpus: 8, allocatedGpus: 2, nodeList: 'gpu001,n2' },
        { state: 'DOWN*', nodes: 1, cpus: 8, allocatedCpus: 2, gpus: 4, allocatedGpus: 1, nodeList: 'n3' },
      ],
      jobsByState: [
        { state: 'PENDING', jobs: 2 },
        { state: 'RUNNING', jobs: 1 },
      ],
      pendingReasons: [
        { reason: 'Priority', jobs: 1 },
        { reason: 'Resources', jobs: 1 },
      ],
    },
    partitions: {
      edges: [
        {
          node: {
            nodesByState: [
              { state: 'MIXED', nodes: 2, nodeList: 'gpu001,n2' },
              { state: 'DOWN*', nodes: 1, nodeList: 'n3' },
            ],
            jobsByState: [
              { state: 'PENDING', jobs: 2 },
              { state: 'RUNNING', jobs: 1 },
            ],
          },
        },
      ],
    },
  })
})

test('filters clusters, nodes and jobs', async () => {
  const clusters = async (filter: string) =>
    (
      await t.ask<{ slurmClusters: { totalCount: number } }>(
        tenant.viewer,
        `{ slurmClusters(filter: { ${filter} }) { totalCount } }`,
      )
    ).slurmClusters.totalCount
  expect(await clusters('state: [OK], kind: [EXTERNAL], region: ["eu"], search: "ALPHA"')).toBe(1)
  expect(await clusters('state: [WAITING]')).toBe(0)
  expect(await names('nodes', 'state: ["not_responding"]')).toEqual(['n3'])
  expect(await names('nodes', 'state: ["down*"]')).toEqual(['n3'])
  expect(await names('nodes', 'hostlist: "n[1-2]"')).toEqual(['n2'])
  expect(await names('nodes', 'match: [MATCHED]')).toEqual(['gpu001'])
  expect(await names('nodes', 'match: []')).toEqual([])
  expect(await names('nodes', 'partition: ["other"]')).toEqual([])
  expect(await names('jobs', 'node: "n3"', 'jobId')).toEqual(['1'])
  expect(await names('jobs', 'state: ["pending"], user: ["bob"]', 'jobId')).toEqual(['2'])
  expect(await names('jobs', 'partition: ["other"]', 'jobId')).toEqual(['3'])
  expect(await names('jobs', 'reason: ["Priority"]', 'jobId')).toEqual(['3'])
  const { errors } = await t.send(
    tenant.viewer,
    '{ slurmCluster(name: "prod") { nodes(filter: { hostlist: "n[" }) { totalCount } } }',
  )
  expect(errors?.[0]).toMatchObject({ extensions: { code: 'INVALID_INPUT' } })
})

// The same examples as for actions, in node-state.test.ts of packages/slurm.
test.each<[states: string[], shown: string, words: string[]]>([
  [['IDLE'], 'IDLE', ['idle']],
  [['IDLE', 'NOT_RESPONDING'], 'IDLE*', ['idle', 'idle*', 'not_responding']],
  [['IDLE', 'DRAIN'], 'DRAINED', ['drain', 'drained']],
  [['MIXED', 'DRAIN', 'NOT_RESPONDING'], 'DRAINING*', ['drain', 'draining', 'not_responding']],
  [['MIXED', 'PLANNED'], 'MIXED-', ['mixed', 'mixed-']],
])('finds a node that is %j by the shown state %s or a flag', async (states, state, expected) => {
  const words = ['idle', 'idle*', 'drain', 'drained', 'draining', 'mixed', 'mixed-', 'not_responding']
  await t.runtime.db.update(schema.slurmNodes).set({ states, state }).where(eq(schema.slurmNodes.name, 'n2'))
  const found: string[] = []
  for (const word of words) if ((await names('nodes', `hostlist: "n2", state: ["${word}"]`)).length > 0) found.push(word)
  expect(found).toEqual(expected)
  await record()
})

test('shows what Slurm configures beside what was discovered', async () => {
  await t.runtime.db
    .update(schema.computeNodes)
    .set({ discoveredAt: sql`now()`, cpuThreads: 64, cpuCores: 32, memoryBytes: 16 * 1024 ** 3 })
    .where(eq(schema.computeNodes.name, 'gpu001'))
  const page = await cluster(
    'nodes(filter: { hostlist: "gpu001" }) { edges { node { node { name } differences { kind configured discovered } } } }',
  )
  expect(page).toMatchObject({
    nodes: {
      edges: [
        {
          node: {
            node: { name: 'gpu001' },
            differences: expect.arrayContaining([
              { kind: 'GPU_COUNT', configured: '4 × h100', discovered: expect.stringMatching(/^8 × /) },
              { kind: 'CPUS', configured: '1', discovered: '64 threads, 32 cores' },
              { kind: 'MEMORY', configured: '31.3 GiB', discovered: '16 GiB' },
            ]),
          },
        },
      ],
    },
  })
})

test('prefers the state of the controller to that of the agent while it is current', async () => {
  const state = async () =>
    (
      await t.ask<{ computeNode: Record<string, unknown> }>(
        tenant.viewer,
        '{ computeNode(name: "gpu001") { slurmState { state source } slurmNodes { name } agent { slurmCluster { name } } } }',
      )
    ).computeNode
  expect(await state()).toEqual({
    slurmState: { state: 'MIXED', source: 'CONTROLLER' },
    slurmNodes: [{ name: 'gpu001' }],
    agent: { slurmCluster: { name: 'prod' } },
  })
  await record('No controller answers.')
  expect(await state()).toMatchObject({ slurmState: { state: 'down', source: 'AGENT' } })
  await record()
})

test('reads a page of clusters with few statements, whatever its size', async () => {
  const page = `{ slurmClusters { totalCount edges { node { name totals { nodes jobs nodesByState { state nodes } } nodes(first: 5) { edges { node { name node { name } differences { kind } } } } jobs(first: 5) { edges { node { jobId } } } } } } }`
  await t.ask(tenant.viewer, page)
  const { count } = await countStatements(t, () => t.ask(tenant.viewer, page))
  expect(count).toBeLessThanOrEqual(5)
  expect(await t.ask(tenant.viewer, `{ node(id: "${globalId('SlurmCluster', id)}") { id } }`)).toMatchObject({
    node: { id: expect.any(String) },
  })
})

test('returns the permitted verbs of each node, job and partition', async () => {
  await record()
  type Shown = { actionPermissions: { verb: string; blockedReason: string | null }[] }
  const allowed = async (list: string, ctx = tenant.operator) => {
    const query = `{ slurmCluster(name: "prod") { it: ${list}(first: 1) { edges { node { actionPermissions { verb blockedReason } } } } } }`
    const { slurmCluster } = await t.ask<{ slurmCluster: { it: { edges: { node: Shown }[] } } }>(ctx, query)
    const { actionPermissions } = slurmCluster.it.edges[0]!.node
    return Object.fromEntries(actionPermissions.map(({ verb, blockedReason }) => [verb, blockedReason]))
  }
  const needsAdmin = expect.stringMatching(/slurm:/)
  expect(await allowed('nodes')).toMatchObject({ DRAIN_NODES: null, RESUME_NODES: null, DOWN_NODES: needsAdmin })
  expect(await allowed('jobs')).toMatchObject({ HOLD_JOBS: null, CANCEL_JOBS: null })
  expect(await allowed('partitions')).toEqual({ SET_PARTITION_STATE: needsAdmin })
  expect(await allowed('partitions', tenant.admin)).toEqual({ SET_PARTITION_STATE: null })
})
