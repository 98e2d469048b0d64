import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NotFound } from '../../kernel/errors.ts'
import { createListener, type Listener } from '../../kernel/events.ts'
import { claimJobRun } from '../../run-queue/index.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { finishJobRun } from '../lifecycle/finish-job-run.ts'
import { runJob } from '../lifecycle/run-job.ts'
import { appendJobRunEvents } from './append-job-run-events.ts'
import { followJobRunEvents } from './follow-job-run-events.ts'

let t: TestRuntime
let listener: Listener
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime({ notify: 'real' })
  listener = await createListener(t.url, t.runtime.log)
  ours = await t.given.tenant()
  const { id } = await t.given.credential(ours.admin, 'SSH_KEY')
  await t.given.fleet(ours.admin, { with: { credentialId: id } })
})
afterAll(async () => {
  await listener.close()
  await t.close()
})

async function runningRun() {
  const { id } = await runJob(ours.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(ours.worker, { id, workerId: 'w' }))!
  let n = 0
  return {
    id,
    append: async (count: number) => {
      for (let left = count; left > 0; left -= 500) {
        const events = Array.from({ length: Math.min(left, 500) }, () => ({
          kind: 'output',
          stdout: `line ${++n}`,
          createdAt: new Date(),
        }))
        await appendJobRunEvents(ours.worker, { id, token, events })
      }
    },
    end: () => finishJobRun(ours.worker, { id, token, hosts: [], endCause: 'exit', exitCode: 0 }),
  }
}
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
const deps = () => ({ db: t.runtime.db, listener, tenantId: ours.tenant.id })

async function follow(id: string, after = 0, signal?: AbortSignal, seen: number[] = []) {
  for await (const page of followJobRunEvents(deps(), { id, after, ...(signal ? { signal } : {}) }))
    seen.push(...page.events.map((e) => e.seq))
  return seen
}

test('twenty followers that reconnect receive every event once, in order', async () => {
  const run = await runningRun()
  await run.append(3000)
  const followers = upTo(20).map(async (i) => {
    const seen: number[] = []
    // Each follower disconnects twice and continues after its last event.
    for (const until of [i * 40, 3000 + i * 100]) {
      const cut = new AbortController()
      for await (const page of followJobRunEvents(deps(), { id: run.id, after: seen.at(-1) ?? 0, signal: cut.signal })) {
        seen.push(...page.events.map((e) => e.seq))
        if (seen.length >= until) cut.abort()
      }
    }
    return follow(run.id, seen.at(-1), undefined, seen)
  })
  await run.append(9000)
  await run.end()
  for (const seen of await Promise.all(followers)) expect(seen).toEqual(upTo(12_001))
})

test('a follower that lags far behind reads from the database', async () => {
  const run = await runningRun()
  const slow = followJobRunEvents(deps(), { id: run.id })
  await run.append(1)
  const seen = (await slow.next()).value!.events.map((e) => e.seq)
  await run.append(9000)
  await run.end()
  for await (const page of slow) seen.push(...page.events.map((e) => e.seq))
  expect(seen).toEqual(upTo(9002))
})

test('ends when the run ends before, during or after following', async () => {
  const run = await runningRun()
  await run.append(2)
  const cut = new AbortController()
  const seen: number[] = []
  const ended = follow(run.id, 0, cut.signal, seen)
  await expect.poll(() => seen.length).toBe(2)
  cut.abort()
  expect(await ended).toEqual([1, 2])
  const waiting = follow(run.id, 2)
  await run.end()
  expect(await waiting).toEqual([3])
  expect(await follow(run.id)).toEqual([1, 2, 3])
  expect(await follow(run.id, 99)).toEqual([])
})

test('concurrent followers share reads', async () => {
  const run = await runningRun()
  await run.append(10)
  let reads = 0
  const counting = new Proxy(t.runtime.db, {
    get(db, name, self) {
      if (name === 'select') reads++
      return Reflect.get(db, name, self)
    },
  })
  const seen = upTo(50).map(() => [] as number[])
  const all = seen.map(async (received) => {
    for await (const page of followJobRunEvents({ ...deps(), db: counting }, { id: run.id }))
      received.push(...page.events.map((e) => e.seq))
  })
  await expect.poll(() => seen.every((received) => received.length === 10)).toBe(true)
  const before = reads
  await run.append(5)
  await expect.poll(() => seen.every((received) => received.length === 15)).toBe(true)
  // A poll reads the run once and its events once, for any number of followers. The timer may add a few polls.
  expect(reads - before).toBeLessThan(12)
  await run.end()
  await Promise.all(all)
})

test('ignores a notification with a seq that is too high', async () => {
  const run = await runningRun()
  await run.append(2)
  const seen: number[] = []
  const ended = follow(run.id, 0, undefined, seen)
  await expect.poll(() => seen.length).toBe(2)
  for (const seq of [1_000_000, 'many', null]) {
    const changeEvents = JSON.stringify([{ topic: 'jobRunEvents', id: run.id, tenantId: ours.tenant.id, seq }])
    await t.runtime.db.execute(sql`select pg_notify('muster', ${changeEvents})`)
  }
  await run.append(3)
  await expect.poll(() => seen.length).toBe(5)
  await run.end()
  expect(await ended).toEqual(upTo(6))
})

test('does not find the run of another tenant', async () => {
  const run = await runningRun()
  const other = await t.given.tenant()
  const following = followJobRunEvents({ ...deps(), tenantId: other.tenant.id }, { id: run.id }).next()
  await expect(following).rejects.toBeInstanceOf(NotFound)
  await run.end()
})

test('a follower can leave while the database is unavailable', async () => {
  const run = await runningRun()
  const leave = new AbortController()
  let isAway = false
  const asked = Promise.withResolvers<void>()
  const db = new Proxy(t.runtime.db, {
    get(target, key) {
      if (!isAway || key !== 'select') return Reflect.get(target, key, target)
      asked.resolve()
      throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    },
  })
  // The tail requests events after its head only through `next`.
  const pages = followJobRunEvents({ ...deps(), listener: { ...listener }, db }, { id: run.id, signal: leave.signal })
  await run.append(1)
  const [first] = [await pages.next()]
  expect(first.value).toMatchObject({ lastSeq: 1 })
  isAway = true
  const rest = pages.next()
  await asked.promise
  leave.abort()
  expect(await rest).toEqual({ value: undefined, done: true })
  await run.end()
})
