import { randomUUID } from 'node:crypto'
import { eq, isNotNull, sql } from 'drizzle-orm'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { tenants } from '../access/index.ts'
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

let world: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
beforeEach(async () => {
  await world?.close()
  world = await testRuntime()
  ours = await world.given.tenant('ours')
  theirs = await world.given.tenant('theirs')
  for (const { admin } of [ours, theirs]) {
    const { id } = await world.given.credential(admin, 'SSH_KEY')
    await world.given.fleet(admin, { nodes: 1, with: { credentialId: id } })
  }
})
afterAll(() => world.close())

const claimNext = () => claimNextJobRun(world.runtime, { workerId: 'w1', token: randomUUID() })
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
const waiting = async () => (await world.runtime.db.select().from(jobRuns).where(isNotNull(jobRuns.waitingSince))).length
const entries = async () =>
  (await world.runtime.db.execute<{ count: number }>(sql`select count(*)::int from pgboss.job where name = 'job-run'`)).rows[0]!
    .count

test('tenants take turns, and of one tenant the oldest run begins first', async () => {
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

test('a paused queue begins nothing, says so, leaves others alone, and goes on where it was', async () => {
  const mine = await ask(ours.operator, 2)
  await expect(pauseQueue(ours.operator, { reason: 'no' })).rejects.toThrow(Forbidden)
  await pauseQueue(ours.admin, { reason: 'The cooling is being repaired.' })
  await expect(pauseQueue(ours.admin, { reason: 'again' })).rejects.toThrow('cooling')
  const [other] = await ask(theirs.operator, 1)
  expect(await begun()).toMatchObject({ run: { id: other } })
  expect(await begun()).toBeNull()
  expect(await waiting()).toBe(2)
  expect(await wakeWaitingJobRuns(world.runtime)).toBe(0)
  const before = await entries()
  await resumeQueue(ours.admin)
  await expect(resumeQueue(ours.admin)).rejects.toThrow(Conflict)
  expect(await wakeWaitingJobRuns(world.runtime)).toBe(2)
  expect((await entries()) - before).toBe(2)
  expect(await begun()).toMatchObject({ run: { id: mine[0] } })
})

test('a tenant never has more runs under way than it may, however many workers reach for them', async () => {
  await setMaxConcurrentRuns(ours.admin, { maxConcurrentRuns: 3 })
  const ids = await ask(ours.operator, 8)
  // Each another run, at the same moment: what one counts, the others must have written.
  const tries = await Promise.all(ids.map((id) => claimJobRun(ours.worker, { id, workerId: 'w' })))
  const claims = tries.filter((claim) => claim !== null)
  expect(claims).toHaveLength(3)
  expect(await Promise.all(Array.from({ length: 8 }, begun))).toEqual(Array(8).fill(null))
  expect(await waiting()).toBe(5)
  await end(ours.worker, claims[0]!)
  expect(await wakeWaitingJobRuns(world.runtime)).toBeGreaterThan(0)
  expect(await begun()).not.toBeNull()
  expect(await begun()).toBeNull()
  await setMaxConcurrentRuns(ours.admin, { maxConcurrentRuns: null })
  await wakeWaitingJobRuns(world.runtime)
  for (let i = 0; i < 4; i++) expect(await begun()).not.toBeNull()
  expect(await begun()).toBeNull()
})

test('workers that reach for the same runs at once each get another one, and none is left', async () => {
  const ids = await ask(ours.operator, 12)
  const claims = await Promise.all(Array.from({ length: 12 }, begun))
  expect(new Set(claims.map((claim) => (claim as { run: { id: string } }).run.id))).toEqual(new Set(ids))
})

test('a drained worker begins nothing until it is undrained', async () => {
  const worker = { host: 'h', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 4 }
  const id = await registerWorker(world.runtime, { name: 'w1', ...worker })
  await ask(ours.operator, 1)
  await expect(drainWorker(ours.operator, { id })).rejects.toThrow(Forbidden)
  await drainWorker(ours.admin, { id })
  await expect(drainWorker(ours.admin, { id })).rejects.toThrow('drained already')
  expect(await recordWorkerLiveness(world.runtime, { id, name: 'w1', ...worker, running: 2 })).toEqual({ isDraining: true })
  expect(await begun()).toBe('draining')
  expect(await waiting()).toBe(0)
  await undrainWorker(ours.admin, { id })
  expect(await recordWorkerLiveness(world.runtime, { id, name: 'w1', ...worker, running: 0 })).toEqual({ isDraining: false })
  expect(await begun()).toMatchObject({ run: { status: 'RUNNING' } })
  await world.runtime.db.update(workers).set({ lastSeenAt: sql`now() - interval '2 days'` })
  await recordWorkerLiveness(world.runtime, { ...worker, id: randomUUID(), name: 'w2', running: 0 })
  expect((await world.runtime.db.select().from(workers)).map((one) => one.name)).toEqual(['w2'])
})

test('nobody sees whether another tenant’s queue is paused', async () => {
  await pauseQueue(ours.admin, { reason: 'ours' })
  await expect(resumeQueue(theirs.admin)).rejects.toThrow(Conflict)
  const [other] = await world.runtime.db.select().from(tenants).where(eq(tenants.id, theirs.tenant.id))
  expect(other!.queuePausedAt).toBeNull()
})
