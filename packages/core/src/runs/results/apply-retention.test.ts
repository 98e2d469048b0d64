import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { localStore } from '../../artifacts/index.ts'
import { Conflict, Forbidden } from '../../kernel/errors.ts'
import { claimJobRun } from '../../run-queue/claim-job-run.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { appendJobRunEvents } from '../events/append-job-run-events.ts'
import { readJobRunLog } from '../events/read-job-run-log.ts'
import { finishJobRun } from '../lifecycle/finish-job-run.ts'
import { runJob } from '../lifecycle/run-job.ts'
import { jobArtifacts, jobRunEvents, jobRunHosts, jobRuns } from '../tables.ts'
import { applyRetention } from './apply-retention.ts'
import { setRetention } from './set-retention.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
let root: string
let store: ReturnType<typeof localStore>
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant('ours')
  theirs = await t.given.tenant('theirs')
  root = await mkdtemp(join(tmpdir(), 'muster-retention-'))
  store = localStore(join(root, 'artifacts'))
  for (const { admin } of [ours, theirs]) {
    const { id } = await t.given.credential(admin, 'SSH_KEY')
    await t.given.fleet(admin, { nodes: 1, with: { credentialId: id } })
  }
})
afterAll(async () => {
  await t.close()
  await rm(root, { recursive: true })
})

/** A run that ended `days` ago, with a log of `lines` events and one file. */
async function oldRun(of: TenantFixture, days: number, lines = 3): Promise<string> {
  const { id } = await runJob(of.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(of.worker, { id, workerId: 'w' }))!
  const createdAt = new Date()
  const events = Array.from({ length: lines }, (_, i) => ({ kind: 'output', stdout: `line ${i}`, createdAt }))
  await appendJobRunEvents(of.worker, { id, token, events })
  const artifact = { id: randomUUID(), kind: 'log' as const, path: 'log.txt', size: 4, sha256: '', store: store.name }
  const key = `${of.tenant.id}/${id}/${artifact.id}`
  await writeFile(join(root, 'file'), 'text')
  await store.put(key, join(root, 'file'), 4)
  const artifacts = [{ ...artifact, key }]
  await finishJobRun(of.worker, { id, token, hosts: [], endCause: 'exit', exitCode: 0, artifacts })
  await t.runtime.db
    .update(jobRuns)
    .set({ finishedAt: sql`now() - make_interval(days => ${days}, hours => 1)` })
    .where(eq(jobRuns.id, id))
  return id
}
const eventsOf = (id: string) => t.runtime.db.$count(jobRunEvents, eq(jobRunEvents.jobRunId, id))
const runOf = async (id: string) => (await t.runtime.db.select().from(jobRuns).where(eq(jobRuns.id, id)))[0]
const artifactOf = async (id: string) => (await t.runtime.db.select().from(jobArtifacts).where(eq(jobArtifacts.jobRunId, id)))[0]!

test('removes expired logs, then artifacts, then runs, and nothing else', async () => {
  await expect(setRetention(ours.operator, { logDays: 1 })).rejects.toThrow(Forbidden)
  await setRetention(ours.admin, { logDays: 10, artifactDays: 20, runDays: 30 })
  const [fresh, ten, twenty, thirty] = await Promise.all([
    oldRun(ours, 9),
    oldRun(ours, 10, 5100),
    oldRun(ours, 20),
    oldRun(ours, 30),
  ])
  const other = await oldRun(theirs, 3000)
  expect(await applyRetention(t.runtime, store)).toEqual({ logs: 2, artifacts: 1, runs: 1 })

  expect(await Promise.all([fresh, ten, twenty, other].map(eventsOf))).toEqual([4, 0, 0, 4])
  expect(await runOf(thirty!)).toBeUndefined()
  expect(await runOf(ten!)).toMatchObject({ logRemovedAt: expect.any(Date), lastLine: 5100, status: 'SUCCEEDED' })
  expect(await t.runtime.db.$count(jobRunHosts, eq(jobRunHosts.jobRunId, ten!))).toBe(1)
  await expect(readJobRunLog(ours.viewer, ten!, 'text')).rejects.toThrow(Conflict)
  await expect(readJobRunLog(ours.viewer, ten!, 'text')).rejects.toThrow('older than logs are kept')
  const [retained, gone] = [await artifactOf(ten!), await artifactOf(twenty!)]
  expect(retained.removedAt).toBeNull()
  expect(gone.removedAt).toEqual(expect.any(Date))
  await (await store.open(retained.key)).toArray()
  await expect(store.open(gone.key)).rejects.toThrow('ENOENT')

  // The next round finds nothing to do, except a removal that was interrupted.
  await t.runtime.db.insert(jobRunEvents).values({ jobRunId: ten!, seq: 1, kind: 'output', startLine: 1, createdAt: new Date() })
  expect(await applyRetention(t.runtime, store)).toEqual({ logs: 0, artifacts: 0, runs: 0 })
  expect(await eventsOf(ten!)).toBe(0)
})

test('does not remove files in another store, nor their run', async () => {
  const id = await oldRun(ours, 31)
  await t.runtime.db.update(jobArtifacts).set({ store: 's3' }).where(eq(jobArtifacts.jobRunId, id))
  expect(await applyRetention(t.runtime, store)).toMatchObject({ runs: 0, artifacts: 0 })
  expect(await runOf(id)).toBeDefined()
})
