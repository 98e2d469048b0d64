import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NotFound } from '../../kernel/errors.ts'
import { createListener, type Listener } from '../../kernel/events.ts'
import { claimJobRun } from '../../run-queue/index.ts'
import { eventually } from '../../testing/eventually.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { finishJobRun } from '../lifecycle/finish-job-run.ts'
import { runJob } from '../lifecycle/run-job.ts'
import { appendJobRunEvents } from './append-job-run-events.ts'
import { followJobRunEvents } from './follow-job-run-events.ts'

let world: TestRuntime
let listener: Listener
let cast: TenantFixture
beforeAll(async () => {
  world = await testRuntime({ notify: 'real' })
  listener = await createListener(world.url, world.runtime.log)
  cast = await world.given.tenant()
  const { id } = await world.given.credential(cast.admin, 'SSH_KEY')
  await world.given.fleet(cast.admin, { with: { credentialId: id } })
})
afterAll(async () => {
  await listener.close()
  await world.close()
})

async function runningRun() {
  const { id } = await runJob(cast.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(cast.worker, { id, workerId: 'w' }))!
  let n = 0
  return {
    id,
    say: async (count: number) => {
      for (let left = count; left > 0; left -= 500) {
        const events = Array.from({ length: Math.min(left, 500) }, () => ({
          kind: 'output',
          stdout: `line ${++n}`,
          createdAt: new Date(),
        }))
        await appendJobRunEvents(cast.worker, { id, token, events })
      }
    },
    end: () => finishJobRun(cast.worker, { id, token, hosts: [], endCause: 'exit', exitCode: 0 }),
  }
}
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
const deps = () => ({ db: world.runtime.db, listener, tenantId: cast.tenant.id })

async function follow(id: string, after = 0, signal?: AbortSignal, seen: number[] = []) {
  for await (const page of followJobRunEvents(deps(), { id, after, ...(signal ? { signal } : {}) }))
    seen.push(...page.events.map((e) => e.seq))
  return seen
}

test('twenty who come and go see every event once, in order', async () => {
  const run = await runningRun()
  await run.say(3000)
  const followers = upTo(20).map(async (i) => {
    const seen: number[] = []
    // Each is cut off twice in the middle and goes on behind what it has seen.
    for (const until of [i * 40, 3000 + i * 100]) {
      const cut = new AbortController()
      for await (const page of followJobRunEvents(deps(), { id: run.id, after: seen.at(-1) ?? 0, signal: cut.signal })) {
        seen.push(...page.events.map((e) => e.seq))
        if (seen.length >= until) cut.abort()
      }
    }
    return follow(run.id, seen.at(-1), undefined, seen)
  })
  await run.say(9000)
  await run.end()
  for (const seen of await Promise.all(followers)) expect(seen).toEqual(upTo(12_001))
})

test('one that lags far behind reads on from the database', async () => {
  const run = await runningRun()
  const slow = followJobRunEvents(deps(), { id: run.id })
  await run.say(1)
  const seen = (await slow.next()).value!.events.map((e) => e.seq)
  await run.say(9000)
  await run.end()
  for await (const page of slow) seen.push(...page.events.map((e) => e.seq))
  expect(seen).toEqual(upTo(9002))
})

test('an end is an end: before, while and after following', async () => {
  const run = await runningRun()
  await run.say(2)
  const cut = new AbortController()
  const seen: number[] = []
  const ended = follow(run.id, 0, cut.signal, seen)
  await eventually(() => seen.length === 2)
  cut.abort()
  expect(await ended).toEqual([1, 2])
  const waiting = follow(run.id, 2)
  await run.end()
  expect(await waiting).toEqual([3])
  expect(await follow(run.id)).toEqual([1, 2, 3])
  expect(await follow(run.id, 99)).toEqual([])
})

test('those who follow together read together', async () => {
  const run = await runningRun()
  await run.say(10)
  let reads = 0
  const counting = new Proxy(world.runtime.db, {
    get(db, name, self) {
      if (name === 'select') reads++
      return Reflect.get(db, name, self)
    },
  })
  const seen = upTo(50).map(() => [] as number[])
  const all = seen.map(async (mine) => {
    for await (const page of followJobRunEvents({ ...deps(), db: counting }, { id: run.id }))
      mine.push(...page.events.map((e) => e.seq))
  })
  await eventually(() => seen.every((mine) => mine.length === 10))
  const before = reads
  await run.say(5)
  await eventually(() => seen.every((mine) => mine.length === 15))
  // A look is one read of the run and one of its events, however many wait for it; the clock may add a few.
  expect(reads - before).toBeLessThan(12)
  await run.end()
  await Promise.all(all)
})

test('a notification that says more than there is harms nobody', async () => {
  const run = await runningRun()
  await run.say(2)
  const seen: number[] = []
  const ended = follow(run.id, 0, undefined, seen)
  await eventually(() => seen.length === 2)
  for (const seq of [1_000_000, 'many', null]) {
    const changeEvents = JSON.stringify([{ topic: 'jobRunEvents', id: run.id, tenantId: cast.tenant.id, seq }])
    await world.runtime.db.execute(sql`select pg_notify('muster', ${changeEvents})`)
  }
  await run.say(3)
  await eventually(() => seen.length === 5)
  await run.end()
  expect(await ended).toEqual(upTo(6))
})

test('another tenant’s run is not there', async () => {
  const run = await runningRun()
  const other = await world.given.tenant()
  const following = followJobRunEvents({ ...deps(), tenantId: other.tenant.id }, { id: run.id }).next()
  await expect(following).rejects.toBeInstanceOf(NotFound)
  await run.end()
})

test('one who leaves while the database is away is not kept waiting', async () => {
  const run = await runningRun()
  const leave = new AbortController()
  let isAway = false
  const asked = Promise.withResolvers<void>()
  const db = new Proxy(world.runtime.db, {
    get(target, key) {
      if (!isAway || key !== 'select') return Reflect.get(target, key, target)
      asked.resolve()
      throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    },
  })
  // The tail asks for what is behind its head only through `next`.
  const pages = followJobRunEvents({ ...deps(), listener: { ...listener }, db }, { id: run.id, signal: leave.signal })
  await run.say(1)
  const [first] = [await pages.next()]
  expect(first.value).toMatchObject({ lastSeq: 1 })
  isAway = true
  const rest = pages.next()
  await asked.promise
  leave.abort()
  expect(await rest).toEqual({ value: undefined, done: true })
  await run.end()
})
