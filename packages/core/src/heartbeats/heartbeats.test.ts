import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { approveAgentChange } from '../agents/index.ts'
import { alerts } from '../alerts/index.ts'
import { batch } from '../kernel/batch.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { heartbeatOf, type InsertedAgent, insertAgents } from '../testing/insert-agents.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { acceptHeartbeats, type SignedHeartbeat } from './accept-heartbeats.ts'
import { rollUpHeartbeatHistory } from './roll-up-heartbeat-history.ts'
import { agentHeartbeatHistory, agentHeartbeats } from './tables.ts'

let t: TestRuntime
let fixture: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
})
afterAll(() => t.close())
afterEach(() => vi.restoreAllMocks())

const T0 = new Date('2026-03-01T12:00:00Z')
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000)
let planted = 0
const newAgent = async () => (await insertAgents(fixture.system, 1, { prefix: `hb${++planted}-` }))[0]!
const send = (agent: InsertedAgent, sequence: number, seconds: number, more: Parameters<typeof heartbeatOf>[3] = {}, late = 0) =>
  acceptHeartbeats(t.runtime, [heartbeatOf(agent, sequence, at(seconds), more)], at(seconds + late))
const beatRow = async ({ nodeId }: InsertedAgent) =>
  (await t.runtime.db.select().from(agentHeartbeats).where(eq(agentHeartbeats.nodeId, nodeId)))[0]!
const alertsOf = async ({ nodeId }: InsertedAgent) =>
  t.runtime.db.select().from(alerts).where(eq(alerts.nodeId, nodeId)).orderBy(alerts.id)

test('accepts clocks within five minutes, for every second from ten minutes behind to ten ahead', {
  timeout: 300_000,
}, async () => {
  const offsets = Array.from({ length: 1201 }, (_, i) => i - 600)
  const all = await insertAgents(fixture.system, offsets.length, { prefix: 'clock', state: 'PENDING' })
  const verdicts = await acceptHeartbeats(
    t.runtime,
    all.map((agent, i) => heartbeatOf(agent, 1, at(offsets[i]!))),
    T0,
  )
  expect(verdicts).toEqual(offsets.map((off) => (Math.abs(off) <= 300 ? 'accepted' : 'timestamp_out_of_range')))
  const rows =
    await t.runtime.db.execute(sql`select a.state, b.skew_ms::int as skew from agents a join agent_heartbeats b using (node_id)
    where a.agent_id like 'clock%' order by a.agent_id`)
  expect(rows.rows).toEqual(offsets.map((off) => ({ state: Math.abs(off) <= 300 ? 'ACTIVE' : 'PENDING', skew: off * 1000 })))
  const raised = await t.runtime.db.execute(sql`select count(*)::int as n from alerts where kind = 'clock_skew'`)
  expect(raised.rows).toEqual([{ n: offsets.filter((off) => Math.abs(off) > 60).length }])
})

test('a clock outside the window raises one alert, which resolves when the clock is correct', async () => {
  const agent = await newAgent()
  await send(agent, 1, 0)
  for (const sequence of [2, 3]) expect(await send(agent, sequence, sequence * 30, {}, 600)).toEqual(['timestamp_out_of_range'])
  expect(await alertsOf(agent)).toMatchObject([
    { kind: 'clock_skew', count: 1, resolvedAt: null, evidence: { skewMs: -600_000 } },
  ])
  await send(agent, 4, 120)
  expect((await alertsOf(agent))[0]).toMatchObject({ kind: 'clock_skew', resolvedAt: expect.any(Date) })
})

test('a clock reset to 1970 raises an alert, which resolves when the clock is set', async () => {
  const agent = await newAgent()
  const beat = heartbeatOf(agent, 1, new Date(0))
  expect(await acceptHeartbeats(t.runtime, [beat], T0)).toEqual(['timestamp_out_of_range'])
  expect(await beatRow(agent)).toMatchObject({ skewMs: -2_147_483_647 })
  expect(await send(agent, 1, 30)).toEqual(['accepted'])
  expect(await alertsOf(agent)).toMatchObject([{ kind: 'clock_skew', resolvedAt: expect.any(Date) }])
})

test('stores a load that is too small for its column as 0', async () => {
  const agent = await newAgent()
  const load = (percent: number) => ({ health: { status: 'healthy' as const, cpu_utilization_percent: percent } })
  for (const [i, percent] of [1e-45, 1e-46, 1e-300, 5e-324].entries())
    expect(await send(agent, i + 1, i, load(percent))).toEqual(['accepted'])
  expect(await beatRow(agent)).toMatchObject({ cpuPercent: 0, accepted: 4 })
})

test('computes mean and deviation of intervals, and raises one alert for an irregular one', async () => {
  const agent = await newAgent()
  const times = [0, 30, 61, 90, 121, 150, 181]
  for (const [i, seconds] of times.entries()) await send(agent, i + 1, seconds)
  const intervals = times.slice(1).map((time, i) => time - times[i]!)
  const mean = intervals.reduce((a, b) => a + b) / intervals.length
  const m2 = intervals.reduce((sum, each) => sum + (each - mean) ** 2, 0)
  const row = await beatRow(agent)
  expect([row.intervals, row.intervalMean]).toEqual([6, expect.closeTo(mean, 9)])
  expect(row.intervalM2).toBeCloseTo(m2, 9)
  expect(await alertsOf(agent)).toEqual([])
  await send(agent, 8, 181 + 45)
  expect(await alertsOf(agent)).toMatchObject([
    { kind: 'anomaly', severity: 'info', evidence: { intervalSeconds: 45, zScore: expect.any(Number) } },
  ])
})

test('no interval is irregular before five intervals or within a second', async () => {
  const agent = await newAgent()
  for (const [i, seconds] of [0, 30, 60, 90, 170, 200, 230.4].entries()) await send(agent, i + 1, seconds)
  expect(await alertsOf(agent)).toEqual([])
})

test('spooled heartbeats after an API outage are not irregular', async () => {
  const agent = await newAgent()
  for (let i = 0; i < 8; i++) await send(agent, i + 1, i * 30)
  for (let i = 8; i < 11; i++) await send(agent, i + 1, 320 + i / 100, { measured_at: at(i * 30).toISOString() })
  expect(await alertsOf(agent)).toEqual([])
  expect(await beatRow(agent)).toMatchObject({ intervals: 10, intervalMean: 30 })
})

test('counts missing sequence numbers and raises an alert', async () => {
  const agent = await newAgent()
  await send(agent, 1, 0)
  await send(agent, 5, 30)
  expect(await beatRow(agent)).toMatchObject({ missed: 3, accepted: 2, sequence: 5 })
  expect(await alertsOf(agent)).toMatchObject([
    { kind: 'sequence_gap', severity: 'warning', evidence: { missed: 3, sequence: 5 } },
  ])
})

test('accepts heartbeats of an agent that keeps skipping sequence numbers', async () => {
  const agent = await newAgent()
  await send(agent, 1, 0)
  const most = { missed: Number.MAX_SAFE_INTEGER, bucketMissed: 1_000_000 }
  await t.runtime.db.update(agentHeartbeats).set(most).where(eq(agentHeartbeats.nodeId, agent.nodeId))
  expect(await send(agent, Number.MAX_SAFE_INTEGER, 30)).toEqual(['accepted'])
  expect(await beatRow(agent)).toMatchObject(most)
})

test('a lost accelerator raises an alert, which resolves when it returns', async () => {
  const agent = await newAgent()
  const with_ = (gpus_total: number, ...health: ('ok' | 'lost')[]) => ({
    capacity: { cpu_cores_total: 8, gpus_total },
    accelerators: health.map((each) => ({ health: each })),
  })
  await send(agent, 1, 0, with_(2, 'ok', 'ok'))
  await send(agent, 2, 30, with_(2, 'ok', 'lost'))
  await send(agent, 3, 60, with_(2, 'ok', 'lost'))
  expect(await alertsOf(agent)).toMatchObject([{ kind: 'accelerator_lost', count: 1, resolvedAt: null }])
  await send(agent, 4, 90, with_(2, 'ok', 'ok'))
  expect(await alertsOf(agent)).toMatchObject([{ kind: 'accelerator_lost', resolvedAt: expect.any(Date) }])
  await send(agent, 5, 120, with_(3, 'ok', 'ok', 'ok'))
  expect(await alertsOf(agent)).toMatchObject([
    { kind: 'accelerator_lost' },
    { kind: 'accelerator_count_changed', evidence: { before: 2, now: 3 } },
  ])
})

test('stores one history row per five minutes, in the partition of the day', async () => {
  const agent = await newAgent()
  await rollUpHeartbeatHistory(t.runtime, at(86_400))
  const use = (percent: number) => ({
    health: { status: 'healthy' as const, cpu_utilization_percent: percent, memory_utilization_percent: 30 },
  })
  for (let i = 0; i < 25; i++)
    await send(agent, i === 15 ? 17 + 1 : i + (i > 15 ? 3 : 1), i * 30, use(i < 10 ? 10 : 20), i === 3 ? 2 : 0)
  const rows = await t.runtime.db
    .select()
    .from(agentHeartbeatHistory)
    .where(eq(agentHeartbeatHistory.nodeId, agent.nodeId))
    .orderBy(agentHeartbeatHistory.bucketAt)
  expect(rows).toMatchObject([
    { bucketAt: T0, beats: 10, missed: 0, cpuPercent: 10, memoryPercent: 30, maxSkewMs: 2000 },
    { bucketAt: at(300), beats: 10, missed: 2, cpuPercent: 20 },
  ])
  expect(await beatRow(agent)).toMatchObject({ bucketAt: at(600), bucketHeartbeats: 5 })
  const { rows: parts } = await t.runtime.db.execute<{ name: string }>(
    sql`select distinct tableoid::regclass::text as name from agent_heartbeat_history where node_id = ${agent.nodeId}`,
  )
  // The day had no partition when the heartbeats arrived.
  expect(parts).toEqual([{ name: 'agent_heartbeat_history_default' }])
  expect(await rollUpHeartbeatHistory(t.runtime, at(0))).toEqual({ created: 1, dropped: 0 })
  const moved = await t.runtime.db.execute<{ name: string }>(
    sql`select distinct tableoid::regclass::text as name from agent_heartbeat_history where node_id = ${agent.nodeId}`,
  )
  expect(moved.rows).toEqual([{ name: 'agent_heartbeat_history_20260301' }])
  expect(await rollUpHeartbeatHistory(t.runtime, at(0))).toEqual({ created: 0, dropped: 0 })
  expect((await rollUpHeartbeatHistory(t.runtime, at(3 * 86_400))).dropped).toBe(2)
  expect(await t.runtime.db.select().from(agentHeartbeatHistory).where(eq(agentHeartbeatHistory.nodeId, agent.nodeId))).toEqual(
    [],
  )
})

test('accepts each heartbeat once when many callers send it concurrently', async () => {
  const some = await insertAgents(fixture.system, 40, { prefix: 'race' })
  for (let sequence = 1; sequence <= 5; sequence++) {
    const batch = (): SignedHeartbeat[] => some.map((agent) => heartbeatOf(agent, sequence, at(sequence)))
    const verdicts = (
      await Promise.all(
        [batch(), batch().reverse(), batch(), batch().reverse()].map((beats) => acceptHeartbeats(t.runtime, beats, at(sequence))),
      )
    ).flat()
    expect(verdicts.filter((verdict) => verdict === 'accepted')).toHaveLength(40)
    expect(verdicts.filter((verdict) => verdict === 'stale_sequence')).toHaveLength(120)
  }
})

/** Replaces the nth call of this statement by `instead`. */
function interpose(name: string, instead: (query: () => Promise<unknown>) => Promise<unknown>, nth = 1): void {
  vi.restoreAllMocks()
  const pool = t.runtime.db.$client
  const query = pool.query.bind(pool) as (...asked: unknown[]) => Promise<unknown>
  let met = 0
  const asked = (statement: { name?: string }, ...more: unknown[]) => {
    const real = () => query(statement, ...more)
    return statement.name === name && ++met === nth ? instead(real) : real()
  }
  vi.spyOn(pool, 'query').mockImplementation(asked as typeof pool.query)
}
const fails = (message: string) => async () => {
  throw new Error(message)
}

test('reports stored heartbeats as accepted when a later step fails', async () => {
  const [fresh, old] = [await newAgent(), await newAgent()]
  await send(old, 5, 0)
  const ask = batch((beats: SignedHeartbeat[]) => acceptHeartbeats(t.runtime, beats, at(30)), 10)
  const all = (...beats: SignedHeartbeat[]) => Promise.all(beats.map(ask))
  interpose('explain_heartbeats', fails('no reason was found'))
  const replay = heartbeatOf(old, 5, at(30))
  expect(await all(heartbeatOf(fresh, 1, at(30)), replay)).toEqual(['accepted', 'busy'])
  expect(await all(replay)).toEqual(['stale_sequence'])
  // Two heartbeats of one node: the second is in another statement.
  interpose('accept_heartbeats', fails('the second fails'), 2)
  const second = heartbeatOf(fresh, 3, at(31))
  expect(await all(heartbeatOf(fresh, 2, at(31)), second)).toEqual(['accepted', 'busy'])
  expect(await all(second)).toEqual(['accepted'])
})

test.each([
  ['after', true],
  ['before', false],
])('a connection that ends %s the COMMIT: what was sent is accepted once, and no replay with it', async (_, isDone) => {
  const [fresh, old] = [await newAgent(), await newAgent()]
  await send(old, 5, 0)
  interpose('accept_heartbeats', async (query) => {
    if (isDone) await query()
    throw new Error('Connection terminated unexpectedly')
  })
  const beats = [heartbeatOf(fresh, 1, at(30)), heartbeatOf(old, 5, at(30))]
  expect(await acceptHeartbeats(t.runtime, beats, at(30))).toEqual(['accepted', 'stale_sequence'])
  expect(await beatRow(fresh)).toMatchObject({ sequence: 1, accepted: 1 })
  expect(await acceptHeartbeats(t.runtime, beats, at(30))).toEqual(['stale_sequence', 'stale_sequence'])
})

test('after a deadlock, does not report heartbeats as accepted that another process stored', async () => {
  const agent = await newAgent()
  interpose('accept_heartbeats', async (query) => {
    await query()
    throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
  })
  expect(await acceptHeartbeats(t.runtime, [heartbeatOf(agent, 1, at(0))], at(0))).toEqual(['stale_sequence'])
  expect(await acceptHeartbeats(t.runtime, [heartbeatOf(agent, 2, at(30))], at(30))).toEqual(['accepted'])
})

test('a heartbeat is busy, not rejected, when its hardware is approved concurrently', async () => {
  const agent = await newAgent()
  const beat = (sequence: number, hardware_fingerprint: string) => send(agent, sequence, sequence * 30, { hardware_fingerprint })
  expect([await beat(1, 'one'), await beat(2, 'two')]).toEqual([['accepted'], ['approval_pending']])
  interpose('explain_heartbeats', async (query) => {
    await approveAgentChange(fixture.operator, { nodeId: agent.nodeId, fingerprint: 'two' })
    return query()
  })
  expect([await beat(2, 'two'), await beat(2, 'two')]).toEqual([['busy'], ['accepted']])
})

test('rejects replayed heartbeats in any order', async () => {
  const some = await insertAgents(fixture.system, 20, { prefix: 'replay' })
  const recorded = some.flatMap((agent) => Array.from({ length: 10 }, (_, i) => heartbeatOf(agent, i + 1, at(i))))
  expect(new Set(await acceptHeartbeats(t.runtime, recorded, at(10)))).toEqual(new Set(['accepted']))
  const again = await acceptHeartbeats(t.runtime, recorded.toReversed(), at(20))
  expect(new Set(again)).toEqual(new Set(['stale_sequence']))
})

test('no column that a heartbeat updates is indexed', async () => {
  const { rows } = await t.runtime.db.execute<{ name: string }>(
    sql`select indexrelid::regclass::text as name from pg_index where indrelid = 'agent_heartbeats'::regclass`,
  )
  expect(rows).toEqual([{ name: 'agent_heartbeats_pkey' }])
})

test('two machines with one key raise an alert with both positions', async () => {
  const agent = await newAgent()
  // The machine with the later boot is accepted; neither reports its hardware.
  const beat = (bootEpoch: number, sequence: number, seconds: number) =>
    acceptHeartbeats(t.runtime, [{ ...heartbeatOf(agent, sequence, at(seconds), bootOf(bootEpoch)), bootEpoch }], at(seconds))
  const bootOf = (epoch: number) => ({ health: { status: 'healthy' as const, boot_id: `boot-${epoch}` } })
  for (let i = 0; i < 4; i++) {
    expect(await alertsOf(agent)).toHaveLength(i < 2 ? 0 : 1)
    expect(await beat(200, i + 1, i * 30)).toEqual(['accepted'])
    expect(await beat(100, i + 70, i * 30 + 10)).toEqual(['stale_sequence'])
  }
  expect(await alertsOf(agent)).toMatchObject([
    {
      kind: 'key_shared',
      severity: 'critical',
      count: 3,
      evidence: {
        ...{ bootEpoch: 100, sequence: 73, bootId: 'boot-100' },
        ...{ acceptedEpoch: 200, acceptedSequence: 4, acceptedBootId: 'boot-200' },
      },
    },
  ])
  const changes = t.changeEvents.filter(({ topic, id }) => topic === 'node' && id === agent.nodeId)
  expect(changes).toHaveLength(3)
})

test('restarts, restored disks and machines, lost responses and replays do not count as two machines', async () => {
  type Sent = [epoch: number, sequence: number, sent: number, received?: number]
  const stories: Record<string, Sent[]> = {
    restart: [
      [100, 1, 0],
      [100, 2, 30],
      [160, 1, 60],
      [190, 1, 90],
      [190, 2, 120],
    ],
    'an old spool, twice': [
      ...[
        [100, 1, 0],
        [200, 1, 30],
        [200, 2, 60],
        [100, 2, 90],
        [100, 3, 90.2],
        [300, 1, 91],
        [300, 2, 120],
      ],
      ...[
        [100, 2, 2000],
        [100, 3, 2000.2],
        [400, 1, 2001],
        [400, 2, 2030],
      ],
    ] as Sent[],
    'set back while it ran': [
      [100, 1, 0],
      [100, 2, 30],
      [100, 3, 60],
      [100, 2, 90],
      [100, 3, 120],
      [100, 4, 150],
      [100, 5, 180],
    ],
    'an answer lost': [
      [100, 1, 0],
      [100, 2, 30],
      [100, 2, 52],
      [100, 3, 60],
      [100, 3, 83],
      [100, 4, 90],
    ],
    replays: [
      [100, 1, 0],
      [100, 2, 30],
      [100, 3, 60],
      [100, 1, 0, 65],
      [100, 4, 90],
      [100, 2, 30, 95],
      [100, 5, 120],
      [100, 3, 60, 125],
    ],
    'counts from 1 again': [
      [0, 50, 0],
      [0, 51, 30],
      [0, 1, 60],
      [0, 2, 90],
      [0, 3, 120],
      [0, 4, 150],
    ],
  }
  for (const [story, heartbeats] of Object.entries(stories)) {
    const agent = await newAgent()
    for (const [bootEpoch, sequence, sent, received = sent] of heartbeats)
      await acceptHeartbeats(t.runtime, [{ ...heartbeatOf(agent, sequence, at(sent)), bootEpoch }], at(received))
    expect(
      (await alertsOf(agent)).map(({ kind }) => kind),
      story,
    ).not.toContain('key_shared')
  }
})
