import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { Conflict, Forbidden } from '../kernel/errors.ts'
import { computeNodes } from '../nodes/index.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import { cancelJobRun, endLostJobRuns, finishJobRun, runJob } from '../runs/index.ts'
import { type JobRun, jobRuns } from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { FAULT_TIMEOUT, isLong, scaleIterations } from '../testing/scale-iterations.ts'
import { claimJobRun } from './claim-job-run.ts'
import { blockersOf, wakeWaitingJobRuns } from './node-locks.ts'
import { releaseNodeLocks } from './release-node-locks.ts'
import { nodeLocks } from './tables.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
let nodes: ComputeNode[]
const db = () => t.runtime.db
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  nodes = await t.given.fleet(ours.admin, { nodes: 12, with: { credentialId } })
  // A template that changes its nodes, in addition to the built-in read-only ones.
  const [shipped] = await db().select().from(jobTemplates).where(eq(jobTemplates.tenantId, ours.tenant.id))
  const { id: _id, ...template } = shipped!
  await db()
    .insert(jobTemplates)
    .values({ ...template, name: 'change', isReadOnly: false, isSystem: false })
})
afterAll(() => t.close())
beforeEach(async () => {
  await db().execute(sql`update job_runs set finished_at = now() where finished_at is null`)
  await db().delete(nodeLocks)
})

const start = (limit: string, input: object = {}) => runJob(ours.operator, { template: 'change', limit, ...input })
const claim = ({ id }: JobRun) => claimJobRun(ours.worker, { id, workerId: 'w1' })
const finish = (id: string, token: string) => finishJobRun(ours.worker, { id, token, hosts: [], endCause: 'exit', exitCode: 0 })
const rowOf = async ({ id }: { id: string }) => (await db().select().from(jobRuns).where(eq(jobRuns.id, id)))[0]!
const locksOf = ({ id }: { id: string }) =>
  db()
    .select({ name: computeNodes.name })
    .from(nodeLocks)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeLocks.nodeId))
    .where(and(eq(nodeLocks.jobRunId, id), isNotNull(nodeLocks.acquiredAt)))
const waitsFor = async (run: JobRun) => (await blockersOf(ours.viewer, [run.id])).get(run.id) ?? []

describe('only one run at a time changes a node', () => {
  test('the second run waits, names its blocker, and is enqueued when the first ends', async () => {
    const first = await start('gpu[001-003]')
    const second = await start('gpu[002-005]')
    const { token } = (await claim(first))!
    expect(await locksOf(first)).toHaveLength(3)
    expect(await claim(second)).toBeNull()
    expect(await rowOf(second)).toMatchObject({ status: 'PENDING', waitingSince: expect.any(Date) })
    expect(await waitsFor(second)).toMatchObject([
      { runId: first.id, ownerName: ours.operator.actor.name, hosts: ['gpu002', 'gpu003'], acquiredAt: expect.any(Date) },
    ])
    expect(await wakeWaitingJobRuns(t.runtime)).toBe(0)

    await finish(first.id, token)
    expect(t.changeEvents).toContainEqual({ topic: 'nodesFreed', id: ours.tenant.id, tenantId: ours.tenant.id })
    expect(await waitsFor(second)).toEqual([])
    const woken = await Promise.all([1, 2, 3].map(() => wakeWaitingJobRuns(t.runtime)))
    expect(woken.reduce((sum, n) => sum + n)).toBe(1)
    expect(await rowOf(second)).toMatchObject({ status: 'PENDING', waitingSince: null })
    expect(await claim(second)).not.toBeNull()
    expect(await locksOf(second)).toHaveLength(4)
    expect((await rowOf(second)).waitingSince).toBeNull()
  })

  test('a later run waits for an earlier waiting run', async () => {
    const [a, b, c, d] = [await start('gpu001'), await start('gpu[001-002]'), await start('gpu002'), await start('gpu003')]
    const { token } = (await claim(a))!
    expect(await claim(c)).toBeNull()
    expect(await claim(b)).toBeNull()
    expect(await waitsFor(c)).toMatchObject([{ runId: b.id, acquiredAt: null }])
    expect(await claim(d)).not.toBeNull()
    await finish(a.id, token)
    expect(await wakeWaitingJobRuns(t.runtime)).toBe(1)
    expect(await claim(c)).toBeNull()
    expect(await claim(b)).not.toBeNull()
  })

  test('read-only runs neither lock nor wait', async () => {
    await claim(await start('all'))
    const readOnly = await start('all', { template: 'collect_facts' })
    expect(readOnly.isReadOnly).toBe(true)
    expect(await claim(readOnly)).not.toBeNull()
    expect(await claim(await start('all', { checkMode: true }))).not.toBeNull()
  })

  test.each([
    ['ends', async (run: JobRun, token: string) => void (await finish(run.id, token))],
    [
      'loses its worker',
      async (run: JobRun) => {
        await db().execute(sql`update job_runs set worker_seen_at = now() - interval '1 minute' where id = ${run.id}`)
        await endLostJobRuns(t.runtime)
      },
    ],
    ['is removed', async (run: JobRun) => void (await db().delete(jobRuns).where(eq(jobRuns.id, run.id)))],
  ])('a run that %s frees its nodes', async (_, end) => {
    const run = await start('gpu001')
    const { token } = (await claim(run))!
    await end(run, token)
    expect(await db().select().from(nodeLocks)).toEqual([])
  })

  test('a canceled waiting run no longer blocks later runs', async () => {
    const [a, b, c] = [await start('gpu001'), await start('gpu[001-002]'), await start('gpu002')]
    await claim(a)
    expect([await claim(b), await claim(c)]).toEqual([null, null])
    await cancelJobRun(ours.operator, { id: b.id })
    expect(await wakeWaitingJobRuns(t.runtime)).toBe(1)
    expect(await claim(c)).not.toBeNull()
  })

  test('a run restarted after worker loss keeps its position', async () => {
    const a = await start('gpu001')
    const b = await start('gpu001')
    await db().update(jobRuns).set({ isIdempotent: true }).where(eq(jobRuns.id, a.id))
    await claim(a)
    expect(await claim(b)).toBeNull()
    await db().execute(sql`update job_runs set worker_seen_at = now() - interval '1 minute' where id = ${a.id}`)
    expect(await endLostJobRuns(t.runtime)).toMatchObject({ retried: 1 })
    expect(await locksOf(a)).toEqual([])
    expect(await wakeWaitingJobRuns(t.runtime)).toBe(0)
    expect(await claim(a)).not.toBeNull()
  })

  test('the unique index blocks a run that was committed late', async () => {
    const older = await start('gpu001')
    const younger = await start('gpu001')
    await db().delete(nodeLocks).where(eq(nodeLocks.jobRunId, older.id))
    expect(await claim(younger)).not.toBeNull()
    await db().insert(nodeLocks).values({ nodeId: nodes[0]!.id, jobRunId: older.id })
    expect(await claim(older)).toBeNull()
    await expect(db().update(nodeLocks).set({ acquiredAt: new Date() }).where(eq(nodeLocks.jobRunId, older.id))).rejects.toThrow()
  })
})

describe('releaseNodeLocks', () => {
  test('admins release locks with an audited reason; the waiting run starts', async () => {
    const [a, b] = [await start('gpu[001-002]'), await start('gpu001')]
    await claim(a)
    expect(await claim(b)).toBeNull()
    const release = { nodeIds: [nodes[0]!.id], reason: 'its worker hangs' }
    await expect(releaseNodeLocks(ours.operator, release)).rejects.toBeInstanceOf(Forbidden)
    await expect(releaseNodeLocks(theirs.owner, release)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const released = await releaseNodeLocks(ours.admin, release)
    expect(released.map((node) => node.name)).toEqual(['gpu001'])
    const [entry] = await db().select().from(auditEntries).where(eq(auditEntries.action, 'node.release_lock'))
    expect(entry).toMatchObject({ objectName: 'gpu001', details: { jobRunId: a.id, reason: 'its worker hangs' } })
    expect(await wakeWaitingJobRuns(t.runtime)).toBe(1)
    expect(await claim(b)).not.toBeNull()
    expect(await locksOf(a)).toMatchObject([{ name: 'gpu002' }])
    await expect(releaseNodeLocks(ours.admin, { ...release, nodeIds: [nodes[2]!.id] })).rejects.toBeInstanceOf(Conflict)
  })
})

const RUNS = scaleIterations(2400)
const WORKERS = isLong ? 24 : 6

test(`${WORKERS} workers finish ${RUNS} runs on overlapping nodes, and no two runs change one node at once`, {
  timeout: FAULT_TIMEOUT,
}, async () => {
  const held = new Map<string, string>()
  const began: string[] = []
  let clashes = 0
  const startSome = async (from: number) => {
    for (let i = from; i < RUNS; i += 3) {
      const wanted = nodes.filter((_, j) => (i * 7 + j * (1 + (i % 5))) % 4 === 0 || j === i % nodes.length)
      await runJob(ours.operator, { template: 'change', nodeIds: wanted.map((node) => node.id) })
    }
  }
  const work = async (workerId: string) => {
    while (began.length < RUNS) {
      await wakeWaitingJobRuns(t.runtime)
      const queued = await db()
        .select({ id: jobRuns.id })
        .from(jobRuns)
        .where(and(eq(jobRuns.status, 'PENDING'), isNull(jobRuns.waitingSince)))
        .orderBy(sql`random()`)
        .limit(3)
      for (const { id } of queued) {
        const got = await claimJobRun(ours.worker, { id, workerId })
        if (!got) continue
        began.push(id)
        for (const { nodeId } of got.hosts) {
          if (held.has(nodeId!)) clashes++
          held.set(nodeId!, id)
        }
        await rowOf({ id })
        for (const { nodeId } of got.hosts) held.delete(nodeId!)
        await finish(id, got.token)
      }
    }
  }
  await Promise.all([...[0, 1, 2].map(startSome), ...Array.from({ length: WORKERS }, (_, i) => work(`w${i}`))])
  expect(clashes).toBe(0)
  expect(began).toHaveLength(RUNS)
  expect(new Set(began).size).toBe(RUNS)
  expect(await db().select().from(nodeLocks)).toEqual([])
})
