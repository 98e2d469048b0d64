import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { alerts } from '../alerts/tables.ts'
import { systemCtx } from '../kernel/context.ts'
import { accelerators, computeNodes } from '../nodes/tables.ts'
import { slurmPowerRequests, slurmPowerSavings } from '../slurm-power/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { recordRefresh } from '../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { slurmJob, slurmNode, slurmPartition } from '../testing/slurm-fixture.ts'
import { addSlurmCluster, checkSlurmClusters, removeSlurmCluster, slurmClusters } from './index.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const DAY_MS = 86_400_000

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

let ours: TenantFixture
let nodeId: string
let cluster: { id: string }
beforeEach(async () => {
  ours = await t.given.tenant()
  const [controller, node] = await t.given.fleet(ours.admin, { nodes: 2, with: { hostKey: HOST_KEY } })
  nodeId = node!.id
  await t.runtime.db.update(computeNodes).set({ host: 'n1', discoveredAt: null }).where(eq(computeNodes.id, nodeId))
  cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: controller!.id })
})

const check = () => checkSlurmClusters(systemCtx(t.runtime))
const record = (nodes: ReturnType<typeof slurmNode>[] | string) =>
  recordRefresh(ours.worker, {
    id: cluster.id,
    queries: [],
    durationMs: 100,
    ...(typeof nodes === 'string'
      ? { state: null, error: nodes }
      : {
          error: null,
          state: {
            clusterName: 'alpha',
            version: '22.05.8',
            controllers: [],
            settings: {},
            nodes,
            partitions: [slurmPartition('debug')],
            reservations: [],
            jobs: [slurmJob(1)],
            scheduler: null,
          },
        }),
  })
const openAlerts = async () =>
  (
    await t.runtime.db
      .select()
      .from(alerts)
      .where(and(eq(alerts.tenantId, ours.tenant.id), isNull(alerts.resolvedAt)))
      .orderBy(asc(alerts.kind))
  ).map(({ kind, cluster, nodeId, count, evidence }) => ({ kind, cluster, nodeId, count, evidence }))

test('a controller that does not answer for two minutes has one alert until it answers', async () => {
  await record([slurmNode('n1')])
  await record('No controller answers.')
  await check()
  expect(await openAlerts()).toEqual([])
  const failing = { failingSince: sql`now() - interval '3 minutes'` }
  await t.runtime.db.update(slurmClusters).set(failing).where(eq(slurmClusters.id, cluster.id))
  await check()
  await check()
  expect(await openAlerts()).toMatchObject([
    {
      kind: 'slurm_controller_silent',
      cluster: 'prod',
      nodeId: null,
      count: 1,
      evidence: { since: expect.stringMatching(/^20/), error: 'No controller answers.' },
    },
  ])
  await record([slurmNode('n1')])
  await check()
  expect(await openAlerts()).toEqual([])
})

test('names drained and invalid nodes, keeps the alerts while the controller does not answer, and resolves them', async () => {
  const drained = (name: string, age: number) =>
    slurmNode(name, { states: ['IDLE', 'DRAIN'], reason: 'disk', reasonAt: new Date(Date.now() - age) })
  const reason = 'gres/gpu count reported lower than configured (2 < 4)'
  const invalid = slurmNode('n4', { states: ['IDLE', 'DRAIN', 'INVALID_REG'], reason, reasonAt: new Date() })
  await record([slurmNode('n1'), drained('n2', DAY_MS / 2), drained('n3', 2 * DAY_MS), invalid])
  await check()
  const expected = [
    { kind: 'slurm_nodes_drained', cluster: 'prod', evidence: { total: 1, nodes: [{ name: 'n3', detail: 'disk' }] } },
    { kind: 'slurm_nodes_invalid', cluster: 'prod', evidence: { total: 1, nodes: [{ name: 'n4', detail: reason }] } },
  ]
  expect(await openAlerts()).toMatchObject(expected)
  await record('No controller answers.')
  await check()
  expect(await openAlerts()).toMatchObject(expected)
  await record([slurmNode('n1')])
  await check()
  expect(await openAlerts()).toEqual([])
})

test('compares the GPUs of matched nodes with the last discovery; a removed cluster has no alerts', async () => {
  await record([slurmNode('n1')])
  await check()
  expect(await openAlerts()).toEqual([])
  await t.runtime.db.update(computeNodes).set({ discoveredAt: sql`now()` }).where(eq(computeNodes.id, nodeId))
  await t.runtime.db.delete(accelerators).where(eq(accelerators.nodeId, nodeId))
  await check()
  expect(await openAlerts()).toMatchObject([
    {
      kind: 'slurm_gres_mismatch',
      evidence: { total: 1, nodes: [{ name: 'n1', detail: 'configured: 4 × h100; discovered: none' }] },
    },
  ])
  await removeSlurmCluster(ours.admin, { id: cluster.id })
  await check()
  expect(await openAlerts()).toEqual([])
})

test('names nodes that do not come back within ResumeTimeout, until they have registered', async () => {
  const columns = { tenantId: ours.tenant.id, clusterId: cluster.id }
  const settings = { resumeTimeoutSeconds: 600 } as never
  await t.runtime.db.insert(slurmPowerSavings).values({ ...columns, settings, tokenHashes: [] })
  const request = { ...columns, nodeId, verb: 'RESUME' as const, refusedReason: 'no BMC' }
  const ago = (minutes: number) => sql`now() - make_interval(mins => ${minutes})`
  await t.runtime.db.insert(slurmPowerRequests).values([
    { ...request, name: 'n1', requestedAt: ago(11) },
    { ...request, name: 'n2', requestedAt: ago(9) },
    { ...request, name: 'n3', requestedAt: ago(11) },
    { ...request, name: 'n4', requestedAt: ago(11), verb: 'SUSPEND' },
    { ...request, name: 'n5', requestedAt: ago(11) },
  ])
  const down = (name: string, bootedMinutesAgo = 60) =>
    slurmNode(name, { states: ['DOWN'], bootAt: new Date(Date.now() - bootedMinutesAgo * 60_000) })
  // n5 came back after its resume, and went down later.
  await record([down('n1'), down('n2'), slurmNode('n3', { states: ['IDLE'] }), down('n4'), down('n5', 8)])
  await check()
  expect(await openAlerts()).toMatchObject([
    { kind: 'slurm_resume_failed', cluster: 'prod', evidence: { total: 1, nodes: [{ name: 'n1', detail: 'no BMC' }] } },
  ])
  await record([slurmNode('n1', { states: ['IDLE'] })])
  await check()
  expect(await openAlerts()).toEqual([])
})
