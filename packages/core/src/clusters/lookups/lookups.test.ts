import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/tables.ts'
import { systemCtx } from '../../kernel/context.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { recordRefresh } from '../../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { slurmJob, slurmJobRecord, slurmNode, slurmPartition } from '../../testing/slurm-fixture.ts'
import {
  addSlurmCluster,
  failStalledSlurmLookups,
  findWaitingSlurmLookup,
  finishSlurmLookup,
  lookUpSlurmJobs,
  lookUpSlurmPriority,
  pruneSlurmLookups,
  type SlurmCluster,
  type SlurmLookupResult,
  slurmLookups,
  startSlurmLookup,
} from '../index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
let ours: TenantFixture
let viewer: TenantFixture['operator']
let cluster: SlurmCluster
beforeEach(async () => {
  ours = await t.given.tenant()
  viewer = ours.viewer
  const [node] = await t.given.fleet(ours.admin, { nodes: 1, with: { hostKey: HOST_KEY } })
  cluster = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: node!.id })
})

const stored = async (id: string) => (await t.runtime.db.select().from(slurmLookups).where(eq(slurmLookups.id, id)))[0]!
const RESULT: SlurmLookupResult = {
  hasAccounting: true,
  ...{ jobs: [slurmJobRecord(1)], searchedSinceSeconds: 5, next: { endSeconds: 7, id: 1 }, priorities: [], shares: [] },
}

describe('a lookup of jobs', () => {
  test('by a viewer stores what to search, and an audit entry; a worker ends it once', async () => {
    const filter = { user: ['alice', 'DOM\\bob'], state: ['failed'], node: 'n[1-2],n3', limit: 50, after: '1795462196-12' }
    const since = new Date('2026-11-01T00:00:00Z')
    const lookup = await lookUpSlurmJobs(viewer, { clusterId: cluster.id, ...filter, since })
    expect(lookup.request).toEqual({
      kind: 'FINISHED',
      filter: { users: ['alice', 'DOM\\bob'], accounts: [], partitions: [], states: ['FAILED'], hostlist: 'n[1-3]' },
      sinceSeconds: since.getTime() / 1000,
      untilSeconds: null,
      after: { endSeconds: 1_795_462_196, id: 12 },
      limit: 50,
    })
    const [entry] = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.action, 'slurm_cluster.look_up'))
    expect(entry).toMatchObject({ objectId: cluster.id, actorId: viewer.actor.id })
    expect(await startSlurmLookup(ours.worker, lookup)).toMatchObject({ cluster: { name: 'prod' }, lookup: { id: lookup.id } })
    expect(await startSlurmLookup(ours.worker, lookup)).toBeNull()
    await finishSlurmLookup(ours.worker, { id: lookup.id, result: RESULT, error: null })
    await finishSlurmLookup(ours.worker, { id: lookup.id, result: null, error: 'late' })
    expect(await stored(lookup.id)).toMatchObject({ error: null, result: { jobs: [{ jobId: '1' }], next: { id: 1 } } })
  })

  test('by the number of one job ignores the period', async () => {
    const { request } = await lookUpSlurmJobs(viewer, { clusterId: cluster.id, jobId: '3_1' })
    expect(request).toEqual({ kind: 'JOB', jobId: '3_1' })
  })

  test.each([
    [{ jobId: '1,2' }, 'jobId'],
    [{ user: ['a,b'] }, 'user'],
    [{ account: ['--help x'] }, 'account'],
    [{ account: ['a\\'] }, 'account'],
    [{ partition: ['a\\b'] }, 'partition'],
    [{ user: ['a\\'] }, 'user'],
    [{ state: ['RUNNING'] }, 'state'],
    [{ node: 'n[1' }, 'node'],
    [{ after: '1;2' }, 'after'],
    [{ limit: 501 }, 'limit'],
    [{ since: new Date(2), until: new Date(1) }, 'since'],
  ])('rejects %j', async (fields, path) => {
    const rejected = expect(lookUpSlurmJobs(viewer, { clusterId: cluster.id, ...fields })).rejects
    await rejected.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: expect.stringContaining(path) }] })
  })

  test('finds no cluster of another tenant, and stops at too many that have not finished', async () => {
    const theirs = await t.given.tenant()
    await expect(lookUpSlurmJobs(theirs.admin, { clusterId: cluster.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    for (let i = 0; i < 20; i++) await lookUpSlurmJobs(viewer, { clusterId: cluster.id })
    await expect(lookUpSlurmJobs(viewer, { clusterId: cluster.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: '20 lookups in prod have not finished. Try again in a minute.',
    })
  })

  test('counts parallel requests, and those that finished within the hour', async () => {
    const look = () => lookUpSlurmJobs(viewer, { clusterId: cluster.id })
    const rows = (count: number, finishedAt: Date | null) =>
      Array.from({ length: count }, () => ({
        ...{ tenantId: ours.tenant.id, clusterId: cluster.id, finishedAt },
        request: { kind: 'JOB' as const, jobId: '1' },
      }))
    await t.runtime.db.insert(slurmLookups).values(rows(17, null))
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, look))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    await t.runtime.db.update(slurmLookups).set({ finishedAt: new Date() }).where(eq(slurmLookups.clusterId, cluster.id))
    await t.runtime.db.insert(slurmLookups).values(rows(179, new Date()))
    await look()
    await expect(look()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'prod has had 200 lookups within an hour, which is the limit. Try again later.',
    })
  })

  test('fails with a result that is too large to store', async () => {
    const lookup = await lookUpSlurmJobs(viewer, { clusterId: cluster.id, jobId: '1' })
    const jobs = Array.from({ length: 5 }, (_, i) => slurmJobRecord(i, { comment: 'x'.repeat(1024 * 1024) }))
    await finishSlurmLookup(ours.worker, { id: lookup.id, result: { ...RESULT, jobs }, error: null })
    expect(await stored(lookup.id)).toMatchObject({ result: null, error: expect.stringContaining('The result is larger than') })
  })

  test('is found by a worker until it is claimed, inside its tenant', async () => {
    const theirs = await t.given.tenant()
    const lookup = await lookUpSlurmJobs(viewer, { clusterId: cluster.id })
    expect(await findWaitingSlurmLookup(theirs.worker, lookup)).toBeNull()
    expect(await startSlurmLookup(theirs.worker, lookup)).toBeNull()
    expect(await findWaitingSlurmLookup(ours.worker, lookup)).toEqual({ clusterId: cluster.id })
    await startSlurmLookup(ours.worker, lookup)
    expect(await findWaitingSlurmLookup(ours.worker, lookup)).toBeNull()
  })

  test('of a lost worker fails; old ones are deleted', async () => {
    const waiting = await lookUpSlurmJobs(viewer, { clusterId: cluster.id })
    const lost = await lookUpSlurmJobs(viewer, { clusterId: cluster.id })
    await startSlurmLookup(ours.worker, lost)
    const age = (id: string, minutes: number) =>
      t.runtime.db.execute(
        sql`update slurm_lookups set created_at = now() - make_interval(mins => ${minutes}), started_at = started_at - make_interval(mins => ${minutes}) where id = ${id}`,
      )
    expect(await failStalledSlurmLookups(systemCtx(t.runtime))).toBe(0)
    await age(waiting.id, 9)
    await age(lost.id, 6)
    expect(await failStalledSlurmLookups(systemCtx(t.runtime))).toBe(1)
    await age(waiting.id, 11)
    expect(await failStalledSlurmLookups(systemCtx(t.runtime))).toBe(1)
    expect((await stored(waiting.id)).error).toContain('No worker started the lookup within 10 minutes.')
    expect((await stored(lost.id)).error).toContain('The worker was lost')
    expect(await pruneSlurmLookups(systemCtx(t.runtime))).toBe(0)
    await age(waiting.id, 61)
    expect(await pruneSlurmLookups(systemCtx(t.runtime))).toBe(1)
  })
})

test('a lookup of priorities takes user and account from the queue, and pending jobs only', async () => {
  const pending = { states: ['PENDING'], reason: 'Priority', nodes: '', user: 'bob', account: 'ml' }
  const task = slurmJob(7, { ...pending, arrayJobId: 3, arrayTaskId: 1 })
  await recordRefresh(ours.worker, {
    id: cluster.id,
    ...{ error: null, queries: [], durationMs: 1, readNodeId: null, fallbackReason: null },
    state: {
      ...{ clusterName: 'prod', version: '23.11.1', controllers: [], settings: {}, reservations: [], scheduler: null },
      ...{ nodes: [slurmNode('n1')], partitions: [slurmPartition('debug')] },
      jobs: [slurmJob(1), slurmJob(2, pending), slurmJob(3, { ...pending, arrayJobId: 3, arrayTasks: '2-9%2' }), task],
    },
  })
  const look = (jobId: string) => lookUpSlurmPriority(viewer, { clusterId: cluster.id, jobId })
  expect((await look('2')).request).toEqual({ kind: 'PRIORITY', jobId: '2', user: 'bob', account: 'ml' })
  expect((await look('3_[2-9%2]')).request).toMatchObject({ jobId: '3' })
  expect((await look('3_1')).request).toMatchObject({ jobId: '7' })
  await expect(look('1')).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('The job 1 is RUNNING') })
  await expect(look('9')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
