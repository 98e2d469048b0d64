import { randomUUID } from 'node:crypto'
import { eq, isNotNull, sql } from 'drizzle-orm'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { tenants } from '../access/index.ts'
import { auditEntries } from '../audit/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import { Conflict, Forbidden } from '../kernel/errors.ts'
import { finishJobRun } from '../runs/lifecycle/finish-job-run.ts'
import { runJob } from '../runs/lifecycle/run-job.ts'
import { jobRuns } from '../runs/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { drainWorker, recordWorkerLiveness, registerWorker, undrainWorker, workers } from '../workers/index.ts'
import { claimJobRun } from './claim-job-run.ts'
import { claimNextJobRun } from './claim-next-job-run.ts'
import { wakeWaitingJobRuns } from './node-locks.ts'
import { pauseQueue } from './pause-queue.ts'
import { resumeQueue } from './resume-queue.ts'
import { setMaxConcurrentRuns } from './set-max-concurrent-runs.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
beforeEach(async () => {
  await t?.close()
  t = await testRuntime()
  ours = await t.given.tenant('ours')
  theirs = await t.given.tenant('theirs')
  for (const { admin } of [ours, theirs]) {
    const { id } = await t.given.credential(admin, 'SSH_KEY')
    await t.given.fleet(admin, { nodes: 1, with: { credentialId: id } })
  }
})
afterAll(() => t.close())

const claimNext = () => claimNextJobRun(t.runtime, { workerId: 'w1', token: randomUUID() })
async function begun() {
  const next = await claimNext()
  return next === 'draining' ? next : (next?.claim ?? null)
}
async function ask(as: Ctx, count: number) {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await runJob(as, { template: 'connectivity_check', limit: 'all' })).id)
  return ids
}
const end = (ctx: Ctx, { run, token }: { run: { id: string }; token: string }) =>
  finishJobRun(ctx, { id: run.id, token, hosts: [], endCause: 'exit', exitCode: 0 })
const waiting = async () => (await t.runtime.db.select().from(jobRuns).where(isNotNull(jobRuns.waitingSince))).length
const entries = async () =>
  (await t.runtime.db.execute<{ count: number }>(sql`select count(*)::int from pgboss.job where name = 'job-run'`)).rows[0]!.count

test('alternates between tenants and starts the oldest run of each first', async () => {
  const [a1, a2, a3] = await ask(ours.operator, 3)
  const [b1, b2] = await ask(theirs.operator, 2)
  const order: string[] = []
  for (;;) {
    const claim = await begun()
    if (!claim || claim === 'draining') break
    order.push(claim.run.id)
  }
  expect(order).toEqual([a1, b1, a2, b2, a3])
})

test('a paused queue starts nothing, does not affect other tenants, and resumes in order', async () => {
  const ids = await ask(ours.operator, 2)
  await expect(pauseQueue(ours.operator, { reason: 'no' })).rejects.toThrow(Forbidden)
  await pauseQueue(ours.admin, { reason: 'The cooling is being repaired.' })
  await expect(pauseQueue(ours.admin, { reason: 'again' })).rejects.toThrow('cooling')
  const [other] = await ask(theirs.operator, 1)
  expect(await begun()).toMatchObject({ run: { id: other } })
  expect(await begun()).toBeNull()
  expect(await waiting()).toBe(2)
  expect(await wakeWaitingJobRuns(t.runtime)).toBe(0)
  const before = await entries()
  await resumeQueue(ours.admin)
  await expect(resumeQueue(ours.admin)).rejects.toThrow(Conflict)
  expect(await wakeWaitingJobRuns(t.runtime)).toBe(2)
  expect((await entries()) - before).toBe(2)
  expect(await begun()).toMatchObject({ run: { id: ids[0] } })
})

test('a tenant never exceeds its limit of concurrent runs, with any number of workers', async () => {
  await setMaxConcurrentRuns(ours.installationAdmin, { maxConcurrentRuns: 3 })
  const ids = await ask(ours.operator, 8)
  // Each call claims another run concurrently. Each must count the runs that earlier claims started.
  const tries = await Promise.all(ids.map((id) => claimJobRun(ours.worker, { id, workerId: 'w' })))
  const claims = tries.filter((claim) => claim !== null)
  expect(claims).toHaveLength(3)
  expect(await Promise.all(Array.from({ length: 8 }, begun))).toEqual(Array(8).fill(null))
  expect(await waiting()).toBe(5)
  await end(ours.worker, claims[0]!)
  expect(await wakeWaitingJobRuns(t.runtime)).toBeGreaterThan(0)
  expect(await begun()).not.toBeNull()
  expect(await begun()).toBeNull()
  await setMaxConcurrentRuns(ours.installationAdmin, { maxConcurrentRuns: null })
  await wakeWaitingJobRuns(t.runtime)
  for (let i = 0; i < 4; i++) expect(await begun()).not.toBeNull()
  expect(await begun()).toBeNull()
})

test('concurrent workers each claim a different run, and none is left', async () => {
  const ids = await ask(ours.operator, 12)
  const claims = await Promise.all(Array.from({ length: 12 }, begun))
  expect(new Set(claims.map((claim) => (claim as { run: { id: string } }).run.id))).toEqual(new Set(ids))
})

test('a drained worker starts nothing until it is undrained', async () => {
  const worker = { host: 'h', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 4 }
  const id = await registerWorker(t.runtime, { name: 'w1', ...worker })
  await ask(ours.operator, 1)
  await expect(drainWorker(ours.owner, { id })).rejects.toThrow(Forbidden)
  await drainWorker(ours.installationAdmin, { id })
  await expect(drainWorker(ours.installationAdmin, { id })).rejects.toThrow('already drained')
  expect(await recordWorkerLiveness(t.runtime, { id, name: 'w1', ...worker, running: 2 })).toEqual({ isDraining: true })
  expect(await begun()).toBe('draining')
  expect(await waiting()).toBe(0)
  await undrainWorker(ours.installationAdmin, { id })
  const recorded = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, id)).orderBy(auditEntries.id)
  // A worker serves all tenants, so its rows are in the chain of the installation.
  expect(recorded.map(({ action, tenantId }) => [action, tenantId])).toEqual([
    ['worker.drain', null],
    ['worker.undrain', null],
  ])
  expect(await recordWorkerLiveness(t.runtime, { id, name: 'w1', ...worker, running: 0 })).toEqual({ isDraining: false })
  expect(await begun()).toMatchObject({ run: { status: 'RUNNING' } })
  await t.runtime.db.update(workers).set({ lastSeenAt: sql`now() - interval '2 days'` })
  await recordWorkerLiveness(t.runtime, { ...worker, id: randomUUID(), name: 'w2', running: 0 })
  expect((await t.runtime.db.select().from(workers)).map((one) => one.name)).toEqual(['w2'])
})

test('does not reveal whether another tenant’s queue is paused', async () => {
  await pauseQueue(ours.admin, { reason: 'ours' })
  await expect(resumeQueue(theirs.admin)).rejects.toThrow(Conflict)
  const [other] = await t.runtime.db.select().from(tenants).where(eq(tenants.id, theirs.tenant.id))
  expect(other!.queuePausedAt).toBeNull()
})
