import type { SlurmJob } from '@muster/slurm'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteCredential } from '../credentials/index.ts'
import { systemCtx } from '../kernel/context.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { recordRefresh } from '../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { clusterState, slurmJob, slurmNode } from '../testing/slurm-fixture.ts'
import {
  addSlurmCluster,
  type ClusterState,
  claimSlurmRefresh,
  estimateSlurmStarts,
  readStoredReports,
  recordSlurmRefresh,
  refreshClusterBlockedReason,
  refreshSlurmCluster,
  removeSlurmCluster,
  requestDueRefreshes,
  type SlurmCluster,
  slurmClusters,
  slurmClusterTests,
  slurmJobs,
  slurmNodes,
  slurmPartitions,
  slurmrestdProblem,
  testSlurmController,
  updateSlurmCluster,
} from './index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

let ours: TenantFixture
let nodes: ComputeNode[]
let cluster: SlurmCluster
beforeEach(async () => {
  ours = await t.given.tenant()
  nodes = (await t.given.fleet(ours.admin, { nodes: 4, with: { hostKey: HOST_KEY } })) as ComputeNode[]
  cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: nodes[0]!.id })
})

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

const node = slurmNode
const job = (id: number, changes: Partial<SlurmJob> = {}) => slurmJob(id, { name: `job ${id}`, ...changes })
const state = (changes: Partial<ClusterState> = {}) =>
  clusterState({ nodes: [node('n1'), node('n2')], jobs: [job(1)], ...changes })
const record = (outcome: ClusterState | string) =>
  recordRefresh(ours.worker, {
    id: cluster.id,
    queries: [],
    durationMs: 120,
    ...(typeof outcome === 'string' ? { state: null, error: outcome } : { state: outcome, error: null }),
  })
const namesIn = async () =>
  (await t.runtime.db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, cluster.id))).map(({ name }) => name).sort()
const jobsIn = async () =>
  (await t.runtime.db.select().from(slurmJobs).where(eq(slurmJobs.clusterId, cluster.id))).map(({ jobId }) => jobId).sort()

describe('adding a cluster', () => {
  test('refuses a second cluster with the same controller or name, and unusable controllers', async () => {
    const add = (input: Partial<Parameters<typeof addSlurmCluster>[1]>) =>
      addSlurmCluster(ours.admin, { name: 'other', controllerNodeId: nodes[1]!.id, ...input })
    await expect(add({ controllerNodeId: nodes[0]!.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('The cluster prod has this controller'),
    })
    await expect(add({ name: 'prod' })).rejects.toMatchObject({ message: expect.stringContaining('named prod') })
    await expect(add({ backupNodeId: nodes[1]!.id })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(add({ programFolder: '/opt/slurm/bin; id' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await t.runtime.db.execute(sql`update compute_nodes set host_key = null where id = ${nodes[2]!.id}`)
    await expect(add({ controllerNodeId: nodes[2]!.id })).rejects.toMatchObject({ code: 'CONFLICT' })
    const theirs = await t.given.tenant()
    const [foreign] = await t.given.fleet(theirs.admin, { nodes: 1 })
    await expect(add({ controllerNodeId: foreign!.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(addSlurmCluster(ours.operator, { name: 'x', controllerNodeId: nodes[1]!.id })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })

  test('is updated and removed; nodes of the inventory stay', async () => {
    expect(await updateSlurmCluster(ours.admin, { id: cluster.id, name: 'main', maxNodes: 10 })).toMatchObject({
      name: 'main',
      maxNodes: 10,
    })
    const second = await addSlurmCluster(ours.admin, { name: 'second', controllerNodeId: nodes[1]!.id })
    await expect(updateSlurmCluster(ours.admin, { id: second.id, name: 'main' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(updateSlurmCluster(ours.admin, { id: second.id, controllerNodeId: nodes[0]!.id })).rejects.toMatchObject({
      message: expect.stringContaining('The cluster main has this controller'),
    })
    await record(state())
    await removeSlurmCluster(ours.admin, { id: cluster.id })
    expect([await namesIn(), await jobsIn()]).toEqual([[], []])
    expect(await t.runtime.db.$count(slurmPartitions, eq(slurmPartitions.clusterId, cluster.id))).toBe(0)
    await expect(removeSlurmCluster(ours.admin, { id: cluster.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('slurmrestd', () => {
  const SOCKET = '/run/slurmrestd/slurmrestd.socket'
  const credentialOf = async (kind: 'SLURMRESTD' | 'SALT', ctx = ours.admin) => (await t.given.credential(ctx, kind)).id
  const update = (fields: Partial<Parameters<typeof updateSlurmCluster>[1]>) =>
    updateSlurmCluster(ours.admin, { id: cluster.id, ...fields })

  test('listens at a socket or at the URL of a credential, and each replaces the other', async () => {
    const slurmrestdCredentialId = await credentialOf('SLURMRESTD')
    expect(await update({ slurmrestdSocket: SOCKET })).toMatchObject({ slurmrestdSocket: SOCKET, slurmrestdCredentialId: null })
    expect(await update({ region: 'eu' })).toMatchObject({ slurmrestdSocket: SOCKET })
    const url = { slurmrestdSocket: null, slurmrestdCredentialId, slurmrestdCaCertificate: null }
    expect(await update({ slurmrestdCredentialId })).toMatchObject(url)
    expect(await update({ region: 'us' })).toMatchObject(url)
    await expect(deleteCredential(ours.admin, { id: slurmrestdCredentialId })).rejects.toThrow(/is used by the clusters prod/)
    const none = { slurmrestdSocket: null, slurmrestdCredentialId: null, slurmrestdCaCertificate: null }
    expect(await update({ slurmrestdCredentialId: null })).toMatchObject(none)
    expect(await update({ slurmrestdSocket: SOCKET })).toMatchObject({ slurmrestdSocket: SOCKET })
    expect(await update({ slurmrestdSocket: null })).toMatchObject(none)
    await deleteCredential(ours.admin, { id: slurmrestdCredentialId })
  })

  test('is refused with both, with a credential of another kind or tenant, and with a relative path', async () => {
    const other = await t.given.tenant()
    const refused = async (fields: Partial<Parameters<typeof updateSlurmCluster>[1]>, path: string) =>
      expect(update(fields)).rejects.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path }] })
    await refused({ slurmrestdSocket: SOCKET, slurmrestdCredentialId: await credentialOf('SLURMRESTD') }, 'slurmrestdSocket')
    await refused({ slurmrestdCredentialId: await credentialOf('SALT') }, 'slurmrestdCredentialId')
    await refused({ slurmrestdCredentialId: await credentialOf('SLURMRESTD', other.admin) }, 'slurmrestdCredentialId')
    await refused({ slurmrestdSocket: 'slurmrestd.socket' }, 'slurmrestdSocket')
    await refused({ slurmrestdSocket: '/tmp/a b' }, 'slurmrestdSocket')
  })

  test('is tested by an operator only as a cluster on this node has it', async () => {
    await update({ slurmrestdSocket: SOCKET })
    const run = (ctx: typeof ours.admin, slurmrestdSocket: string) =>
      testSlurmController(ctx, { nodeId: nodes[0]!.id, slurmrestdSocket })
    expect(await run(ours.operator, SOCKET)).toMatchObject({ slurmrestdSocket: SOCKET })
    await expect(run(ours.operator, '/run/other.socket')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await run(ours.admin, '/run/other.socket')
  })

  test('shows why the last refresh did not use it', async () => {
    const queries = [
      { query: 'nodes', state: 'OK' },
      { query: 'slurmrestd', state: 'FAILED', detail: 'It hangs.', hint: 'Read its log.' },
    ] as SlurmCluster['queries']
    expect(slurmrestdProblem({ queries })).toBe('It hangs. Read its log.')
    expect(slurmrestdProblem({ queries: queries.slice(0, 1) })).toBeNull()
  })
})

describe('a test of a controller', () => {
  test('by an operator runs programs of the path, or of the folder of a cluster on this node', async () => {
    await updateSlurmCluster(ours.admin, { id: cluster.id, programFolder: '/opt/slurm/bin', backupNodeId: nodes[1]!.id })
    const run = (node: number, programFolder?: string, ctx = ours.operator) =>
      testSlurmController(ctx, { nodeId: nodes[node]!.id, programFolder })
    await run(2)
    await run(0, '/opt/slurm/bin')
    await run(1, '/opt/slurm/bin')
    await expect(run(0, '/tmp/slurm')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(run(2, '/opt/slurm/bin')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await run(0, '/tmp/slurm', ours.admin)
    expect(await t.runtime.db.$count(slurmClusterTests, eq(slurmClusterTests.tenantId, ours.tenant.id))).toBe(4)
  })
})

describe('the same cluster twice', () => {
  test('is refused when another cluster has the controller as its backup, or the other way round', async () => {
    const [first, second, third] = nodes.map(({ id }) => id) as [string, string, string]
    const message = 'The cluster prod has this controller. A controller belongs to one cluster.'
    await updateSlurmCluster(ours.admin, { id: cluster.id, backupNodeId: second })
    const add = (controllerNodeId: string, backupNodeId?: string) =>
      addSlurmCluster(ours.admin, { name: 'other', controllerNodeId, backupNodeId })
    await expect(add(second)).rejects.toMatchObject({ code: 'CONFLICT', message })
    await expect(add(third, first)).rejects.toMatchObject({ code: 'CONFLICT', message })
    const other = await add(third)
    await expect(updateSlurmCluster(ours.admin, { id: other.id, backupNodeId: second })).rejects.toMatchObject({ message })
    expect(await updateSlurmCluster(ours.admin, { id: cluster.id, backupNodeId: null })).toMatchObject({ backupNodeId: null })
    expect(await updateSlurmCluster(ours.admin, { id: other.id, backupNodeId: second })).toMatchObject({ backupNodeId: second })
  })

  test('is refused when another host shows the same cluster', async () => {
    const settings = { ClusterName: 'alpha', 'SlurmctldHost[0]': 'ctl(10.0.0.1)' }
    const booted = (at: number) => state({ settings, nodes: [node('n1', { bootAt: new Date(at) })] })
    await record(booted(5000))
    const second = await addSlurmCluster(ours.admin, { name: 'second', controllerNodeId: nodes[1]!.id })
    cluster = second
    expect(await record(booted(5000))).toMatchObject({
      discoveredAt: null,
      state: 'NOT_ANSWERING',
      lastError: 'This is the cluster prod, seen from another host. Remove one of the two.',
    })
    expect(await namesIn()).toEqual([])
    // The names of the documentation, on another site.
    expect(await record(booted(9000))).toMatchObject({ state: 'OK', lastError: null })
    // A host of the other cluster was chosen later.
    await updateSlurmCluster(ours.admin, { id: second.id, controllerNodeId: nodes[2]!.id })
    expect(await record(booted(5000))).toMatchObject({
      settingsReadAt: null,
      state: 'NOT_ANSWERING',
      lastError: expect.stringContaining('This is the cluster prod'),
    })
  })

  test('is refused when both are read for the first time at once', async () => {
    const settings = { ClusterName: 'alpha', 'SlurmctldHost[0]': 'ctl(10.0.0.1)' }
    const seen = state({ settings, nodes: [node('n1', { bootAt: new Date(5000) })] })
    const second = await addSlurmCluster(ours.admin, { name: 'second', controllerNodeId: nodes[1]!.id })
    const outcome = { queries: [], durationMs: 1, state: seen, error: null }
    const claims = await Promise.all([cluster, second].map(({ id }) => claimSlurmRefresh(ours.worker, { id })))
    const read = await Promise.all(
      claims.map(async (claim) => {
        const { id, claimToken } = claim!
        return recordSlurmRefresh(ours.worker, {
          ...outcome,
          id,
          claimToken,
          stored: await readStoredReports(ours.worker, { id }),
        })
      }),
    )
    expect(read.map((row) => row!.state).sort()).toEqual(['NOT_ANSWERING', 'OK'])
  })
})

test('an estimate refuses a type of GPUs without their number', async () => {
  const job = { cpus: 1, timeLimitMinutes: 10, gpuType: 'h100' }
  await expect(estimateSlurmStarts(ours.viewer, job)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(estimateSlurmStarts(ours.viewer, { ...job, gpus: 0 })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect(await estimateSlurmStarts(ours.viewer, { ...job, gpus: 1 })).toEqual([])
})

describe('refresh', () => {
  const sql30 = sql`${slurmClusters.nextRefreshAt} - now()`
  const pause = async () => {
    const [row] = await t.runtime.db
      .select({ seconds: sql<number>`extract(epoch from ${sql30})::float` })
      .from(slurmClusters)
      .where(eq(slurmClusters.id, cluster.id))
    return Math.round(row!.seconds)
  }

  test('waits nine times as long as a refresh took, and at least 30 s', async () => {
    const pauseAfter = async (durationMs: number) => {
      const outcome = { id: cluster.id, queries: [], durationMs, state: state(), error: null }
      const { refreshedAt, nextRefreshAt } = await recordRefresh(ours.worker, outcome)
      return (nextRefreshAt.getTime() - refreshedAt!.getTime()) / 1000
    }
    expect([await pauseAfter(120), await pauseAfter(3000), await pauseAfter(20_000)]).toEqual([30, 30, 180])
  })

  test('is claimed by one worker, and only when it is due', async () => {
    const claims = await Promise.all([1, 2, 3].map(() => claimSlurmRefresh(ours.worker, { id: cluster.id })))
    expect(claims.filter(Boolean)).toHaveLength(1)
    await record(state())
    expect(await claimSlurmRefresh(ours.worker, { id: cluster.id })).toBeNull()
    await refreshSlurmCluster(ours.operator, { id: cluster.id })
    expect(await claimSlurmRefresh(ours.worker, { id: cluster.id })).toMatchObject({ settingsReadAt: null })
  })

  const claim = async () => {
    await t.runtime.db.update(slurmClusters).set({ nextRefreshAt: sql`now()` }).where(eq(slurmClusters.id, cluster.id))
    return (await claimSlurmRefresh(ours.worker, { id: cluster.id }))!
  }
  const end = async ({ claimToken }: { claimToken: string }, names: string[], changes: Partial<ClusterState> = {}) =>
    recordSlurmRefresh(ours.worker, {
      stored: await readStoredReports(ours.worker, { id: cluster.id }),
      ...{ id: cluster.id, claimToken, queries: [], durationMs: 1, error: null },
      state: state({ nodes: names.map((name) => node(name)), ...changes }),
    })

  test('that ends after its claim stores nothing', async () => {
    const late = await claim()
    await t.runtime.db.update(slurmClusters).set({ claimedUntil: sql`now()` }).where(eq(slurmClusters.id, cluster.id))
    const next = await claim()
    expect(await end(late, ['old'])).toBeNull()
    expect(await end(next, ['new'])).toMatchObject({ state: 'OK', claimedUntil: null })
    expect(await end(late, ['old'])).toBeNull()
    expect(await namesIn()).toEqual(['new'])
  })

  test('that somebody asks for during another one follows at once, and reads the configuration', async () => {
    const running = await claim()
    await refreshSlurmCluster(ours.operator, { id: cluster.id })
    expect(await end(running, ['n1'])).toMatchObject({ settingsReadAt: null, claimedUntil: null })
    expect(await pause()).toBeLessThanOrEqual(0)
    const following = await claimSlurmRefresh(ours.worker, { id: cluster.id })
    expect(await end(following!, ['n1'])).toMatchObject({ settingsReadAt: expect.any(Date) })
    expect(await pause()).toBe(30)
  })

  test.each<[string, () => Partial<Parameters<typeof updateSlurmCluster>[1]>]>([
    ['the controller', () => ({ controllerNodeId: nodes[1]!.id })],
    ['the backup', () => ({ backupNodeId: nodes[1]!.id })],
    ['the folder of programs', () => ({ programFolder: '/opt/slurm/bin' })],
  ])('of the time before %s was changed stores nothing; the next one reads the configuration', async (_, change) => {
    await record(state())
    const running = await claim()
    await updateSlurmCluster(ours.admin, { id: cluster.id, ...change() })
    expect(await end(running, ['old'])).toBeNull()
    expect(await namesIn()).toEqual(['n1', 'n2'])
    expect(await claimSlurmRefresh(ours.worker, { id: cluster.id })).toMatchObject({ settingsReadAt: null })
  })

  test('goes on with a backup alone; a cluster without a node to ask does not answer', async () => {
    await updateSlurmCluster(ours.admin, { id: cluster.id, backupNodeId: nodes[1]!.id })
    await record(state())
    const forget = (column: string) =>
      t.runtime.db.execute(
        sql`update slurm_clusters set ${sql.identifier(column)} = null, next_refresh_at = now() where id = ${cluster.id}`,
      )
    const rowOf = async () => (await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, cluster.id)))[0]!
    const due = () => requestDueRefreshes(systemCtx(t.runtime))
    const before = await due()
    await forget('controller_node_id')
    expect(await due()).toBe(before + 1)
    expect(await rowOf()).toMatchObject({ state: 'OK' })
    expect(refreshClusterBlockedReason(ours.operator.actor, await rowOf())).toBeNull()
    await forget('backup_node_id')
    expect(await due()).toBe(before + 1)
    expect(await rowOf()).toMatchObject({ state: 'NOT_ANSWERING' })
    expect(refreshClusterBlockedReason(ours.operator.actor, await rowOf())).toContain('no controller node')
  })

  test('is asked for when it is due', async () => {
    await record(state())
    const due = () => requestDueRefreshes(systemCtx(t.runtime))
    const before = await due()
    await t.runtime.db.update(slurmClusters).set({ nextRefreshAt: sql`now()` }).where(eq(slurmClusters.id, cluster.id))
    expect(await due()).toBe(before + 1)
  })

  test('replaces nodes, partitions and jobs, and keeps what it did not read', async () => {
    expect(await record(state())).toMatchObject({
      originalClusterName: 'alpha',
      settings: { ClusterName: 'alpha' },
      failingSince: null,
    })
    const changed = state({ settings: null, clusterName: null, nodes: [node('n2'), node('n3')], jobs: [job(1), job(2)] })
    expect(await record(changed)).toMatchObject({ clusterName: 'alpha', settings: { ClusterName: 'alpha' } })
    expect([await namesIn(), await jobsIn()]).toEqual([
      ['n2', 'n3'],
      ['1', '2'],
    ])
    await record(state({ nodes: [], jobs: [], partitions: [] }))
    expect([await namesIn(), await jobsIn()]).toEqual([[], []])
  })

  test('replaces licenses, and keeps those that it did not read', async () => {
    const matlab = { name: 'matlab', total: 10, used: 3, free: 7, reserved: 0, isRemote: false }
    expect(await record(state({ licenses: [matlab] }))).toMatchObject({ licenses: [matlab] })
    expect(await record(state({ licenses: null }))).toMatchObject({ licenses: [matlab] })
    expect(await record(state({ licenses: [] }))).toMatchObject({ licenses: [] })
  })

  test('stores times, and counts of nodes that are no numbers of 32 bits', async () => {
    await record(state({ nodes: [node('n1', { bootAt: new Date(1000), cpus: 1e12, gres: [] })] }))
    const [row] = await t.runtime.db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, cluster.id))
    expect(row).toMatchObject({ cpus: 2 ** 31 - 1, gpus: 0, report: { bootAt: '1970-01-01T00:00:01.000Z' } })
  })

  test('names jobs as squeue does', async () => {
    const array = { arrayJobId: 3 }
    await record(
      state({
        jobs: [
          job(3, { ...array, arrayTasks: '2-9%2' }),
          job(15, { ...array, arrayTaskId: 1 }),
          job(12, { hetJobId: 12, hetJobOffset: 0 }),
          job(13, { hetJobId: 12, hetJobOffset: 1 }),
        ],
      }),
    )
    expect(await jobsIn()).toEqual(['12+0', '12+1', '3_1', '3_[2-9%2]'])
  })

  test('that fails keeps the last state with its age, and is repeated less and less often', async () => {
    const { refreshedAt } = await record(state())
    expect(await pause()).toBe(30)
    const first = await record('No controller answers: ctl.')
    expect(first).toMatchObject({ refreshedAt, lastError: 'No controller answers: ctl.', failingSince: expect.any(Date) })
    expect([await namesIn(), await jobsIn(), await pause()]).toEqual([['n1', 'n2'], ['1'], 30])
    const second = await record('No controller answers: ctl.')
    expect(second.failingSince).toEqual(first.failingSince)
    expect(await pause()).toBe(60)
    for (let i = 0; i < 8; i++) await record('No controller answers: ctl.')
    expect(await pause()).toBe(600)
    expect(await record(state())).toMatchObject({ failingSince: null, lastError: null, failureCount: 0 })
  })
})
