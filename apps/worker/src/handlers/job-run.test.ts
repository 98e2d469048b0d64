import { fileURLToPath } from 'node:url'
import { createQueue } from '@muster/core/queue'
import { queues, schema } from '@muster/core/registry'
import { nodesFreed } from '@muster/core/run-queue'
import { jobRunQueue, runJob } from '@muster/core/runs'
import { drainWorker, registerWorker, undrainWorker } from '@muster/core/workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reconcileWaitingRuns } from '../reconcilers/waiting-runs.ts'
import { fakeRegistration } from '../testing/fake-registration.ts'
import { createRunFixture, type RunFixture } from '../testing/run-fixture.ts'
import { jobRunHandler } from './job-run.ts'

const FAKE = fileURLToPath(new URL('../testing/fake-ansible-playbook.mjs', import.meta.url))

let fixture: RunFixture
beforeEach(async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: FAKE, JOB_CANCEL_GRACE_PERIOD: 1 })
  const { id } = await fixture.given.credential(fixture.admin, 'SSH_KEY')
  await fixture.given.fleet(fixture.admin, { with: { credentialId: id } })
})
afterEach(() => fixture.close())

const handler = (presence = fakeRegistration) =>
  jobRunHandler({
    runtime: fixture.runtime,
    config: fixture.config,
    workerId: 'w',
    listener: fixture.listener,
    isolation: fixture.isolation,
    presence,
    store: fixture.store,
    stopping: fixture.stopping.signal,
  })
const statuses = async () =>
  (await fixture.runtime.db.select({ status: schema.jobRuns.status }).from(schema.jobRuns)).map((run) => run.status)

test('a stopping worker requeues a run', async () => {
  const run = await runJob(fixture.operator, { template: await fixture.template('look', ''), limit: 'all' })
  fixture.stopping.abort()
  await handler()({ id: run.id, tenantId: fixture.tenant.id })
  expect(await statuses()).toEqual(['PENDING'])
  const queue = await createQueue(fixture.url, fixture.runtime.log, 'worker', queues)
  const handed: string[] = []
  try {
    await queue.work(jobRunQueue, 1, async ({ id }) => void handed.push(id))
    await expect.poll(() => handed.length).toBe(2)
    expect(new Set(handed)).toEqual(new Set([run.id]))
  } finally {
    await queue.close(0)
  }
})

test('a drained worker requeues a run, also before it learns of the drain', async () => {
  const run = await runJob(fixture.operator, { template: await fixture.template('look', ''), limit: 'all' })
  const entry = { id: run.id, tenantId: fixture.tenant.id }
  const facts = { name: 'w', host: 'h', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 1 }
  const id = await registerWorker(fixture.runtime, facts)
  await drainWorker(fixture.installationAdmin, { id })
  const waiting = async () =>
    (await fixture.runtime.db.execute<{ count: number }>(sql`select count(*)::int from pgboss.job where name = 'job-run'`))
      .rows[0]!.count
  expect(await waiting()).toBe(1)
  await handler()(entry)
  await handler({ ...fakeRegistration, isDraining: () => true })(entry)
  expect(await statuses()).toEqual(['PENDING'])
  expect(await waiting()).toBe(3)
  await undrainWorker(fixture.installationAdmin, { id })
  await handler()(entry)
  expect(await statuses()).toEqual(['SUCCEEDED'])
})

test('one entry starts all runs that may start', async () => {
  const template = await fixture.template('look', '')
  const run = await runJob(fixture.operator, { template, limit: 'all' })
  await runJob(fixture.operator, { template, limit: 'all' })
  await handler()({ id: run.id, tenantId: fixture.tenant.id })
  expect(await statuses()).toEqual(['SUCCEEDED', 'SUCCEEDED'])
})

test('ignores entries of runs that ended, were canceled or have another worker', async () => {
  const run = await runJob(fixture.operator, { template: await fixture.template('look', ''), limit: 'all' })
  const entry = { id: run.id, tenantId: fixture.tenant.id }
  await Promise.all([handler()(entry), handler()(entry)])
  await handler()(entry)
  const { events } = await fixture.read(run.id)
  expect(events.filter((event) => event.kind === 'run_end')).toHaveLength(1)
  await handler()({ id: crypto.randomUUID(), tenantId: fixture.tenant.id })
})

/** Makes Postgres end the first two connections that change this column. @returns reads the number of changes */
async function cutConnectionsThatSet(column: string, table: string) {
  const name = `cut_${column}`
  await fixture.asOwner(
    `create sequence ${name};
      create function ${name}() returns trigger language plpgsql as $$ begin
      if nextval('${name}') <= 2 then perform pg_terminate_backend(pg_backend_pid()); end if; return new; end $$;
      grant usage, select on sequence ${name} to public;
      create trigger ${name} before update of ${column} on ${table} for each row execute function ${name}()`,
  )
  return async () =>
    (await fixture.runtime.db.execute<{ cuts: number }>(sql.raw(`select last_value::int as cuts from ${name}`))).rows[0]!.cuts
}

test('a run starts when connections are lost during the claim and the read of its credentials', async () => {
  const claims = await cutConnectionsThatSet('claim_token', 'job_runs')
  const uses = await cutConnectionsThatSet('last_used_at', 'credentials')
  const run = await runJob(fixture.operator, { template: await fixture.template('look', ''), limit: 'all' })
  await handler()({ id: run.id, tenantId: fixture.tenant.id })
  expect(await statuses()).toEqual(['SUCCEEDED'])
  expect(await claims()).toBe(3)
  expect(await uses()).toBe(3)
})

test('runs that change the same node run one after another, in order', async () => {
  const template = await fixture.template('change', '', { isReadOnly: false })
  const queue = await createQueue(fixture.url, fixture.runtime.log, 'worker', queues)
  // Change events trigger it; its interval is longer than this test.
  const waiting = reconcileWaitingRuns(fixture.runtime)
  const off = fixture.listener.on(nodesFreed, null, waiting.trigger)
  try {
    await queue.work(jobRunQueue, 4, handler())
    const runs = []
    for (let i = 0; i < 4; i++) runs.push(await runJob(fixture.operator, { template, limit: 'all' }))
    await expect.poll(async () => (await statuses()).every((status) => !['PENDING', 'RUNNING'].includes(status))).toBe(true)
    const ended = await Promise.all(runs.map(async ({ id }) => (await fixture.read(id)).run))
    for (const [i, run] of ended.slice(1).entries())
      expect(run.startedAt!.getTime()).toBeGreaterThanOrEqual(ended[i]!.finishedAt!.getTime())
  } finally {
    off()
    await waiting.stop()
    await queue.close(0)
  }
})
