import { eq, inArray, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { alerts } from '../alerts/index.ts'
import { acceptHeartbeats, agentHeartbeats, ingestLiveness, recordIngestLiveness } from '../heartbeats/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { heartbeatOf, insertAgents } from '../testing/insert-agents.ts'
import { checkLossPatterns } from '../testing/loss-patterns.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { drainAgent } from './drain-agent.ts'
import { reconcileAgentStates } from './reconcile-agent-states.ts'
import { resumeAgent } from './resume-agent.ts'
import { type AgentFacts, nextState, RULES } from './state-machine.ts'
import { AGENT_STATES, type AgentState, agents, agentTransitions } from './tables.ts'
import { updateAgentSettings } from './update-agent-settings.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

const T0 = new Date()
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000)
const statesOf = async (fixture: TenantFixture) => {
  const rows = await t.runtime.db.select().from(agents).where(eq(agents.tenantId, fixture.tenant.id)).orderBy(agents.agentId)
  return rows.map(({ state }) => state)
}
const alertsOf = (fixture: TenantFixture) =>
  t.runtime.db.select().from(alerts).where(eq(alerts.tenantId, fixture.tenant.id)).orderBy(alerts.id)
const kindsOf = async (fixture: TenantFixture) =>
  (await alertsOf(fixture)).map(({ kind, resolvedAt }) => (resolvedAt ? `${kind} over` : kind))
/** A tenant without detection of mass outages. */
const plain = async () => {
  const fixture = await t.given.tenant()
  await updateAgentSettings(fixture.admin, { massOutagePercent: 100 })
  return fixture
}
/** Reconciles the agents of all tests; each test reads only its own tenant. */
const applyStateTransitions = (seconds: number) => reconcileAgentStates(t.runtime, at(seconds))

test('has only the transitions of the wire protocol', () => {
  const allowed: Record<AgentState, AgentState[]> = {
    PENDING: ['ACTIVE', 'OFFLINE', 'DEREGISTERED'],
    ACTIVE: ['STALE', 'DRAINING', 'OFFLINE', 'DEREGISTERED'],
    STALE: ['ACTIVE', 'OFFLINE', 'DEREGISTERED'],
    DRAINING: ['DRAINED', 'ACTIVE', 'OFFLINE', 'DEREGISTERED'],
    DRAINED: ['ACTIVE', 'OFFLINE', 'DEREGISTERED'],
    OFFLINE: ['ACTIVE', 'PENDING', 'DEREGISTERED'],
    DEREGISTERED: [],
  }
  for (const { from, to } of RULES) expect(allowed[from]).toContain(to)
  expect(new Set(RULES.map(({ from }) => from))).toEqual(new Set(AGENT_STATES.filter((state) => state !== 'DEREGISTERED')))
})

test('the SQL expression agrees with nextState for every state and fact', async () => {
  const fixture = await plain()
  const states = AGENT_STATES.filter((state) => state !== 'DEREGISTERED')
  const cases: { state: AgentState; ago: number; asked: boolean; said: 'DRAINING' | 'DRAINED' | null; jobs: number }[] = []
  for (const state of states)
    for (const ago of [0, 119.999, 120, 120.001, 300, 300.001])
      for (const asked of [false, true])
        for (const said of [null, 'DRAINING', 'DRAINED'] as const)
          for (const jobs of [0, 1]) cases.push({ state, ago, asked, said, jobs })
  const planted = await insertAgents(fixture.system, cases.length)
  await t.runtime.db.execute(sql`
    with given as (select * from jsonb_to_recordset(${JSON.stringify(cases.map((each, i) => ({ ...each, id: planted[i]!.nodeId })))}::jsonb)
      as g(id uuid, state text, ago float8, asked boolean, said text, jobs int)),
    beats as (update ${agentHeartbeats} b set received_at = ${T0.toISOString()}::timestamptz - make_interval(secs => ago), reported_drain = said, running_jobs = jobs
      from given g where b.node_id = g.id)
    update ${agents} a set state = g.state, registered_at = '2020-01-01',
      drain_requested_at = case when asked then timestamptz '2020-01-02' end from given g where a.node_id = g.id`)
  await applyStateTransitions(0)
  const after = await t.runtime.db
    .select()
    .from(agents)
    .where(
      inArray(
        agents.nodeId,
        planted.map(({ nodeId }) => nodeId),
      ),
    )
  const stateOf = new Map(after.map(({ nodeId, state }) => [nodeId, state]))
  for (const [i, { state, ago, asked, said, jobs }] of cases.entries()) {
    const facts: AgentFacts = {
      isHeard: ago <= 120,
      isStale: ago > 120,
      isSilent: ago > 300,
      isInMassOutage: false,
      isDrainRequested: asked,
      isSlurmDrain: said !== null,
      isDrained: said === 'DRAINED' || (said === null && asked && jobs === 0),
      isAged: false,
      isDecommissioned: false,
    }
    let expected = state
    for (let step = nextState(expected, facts); step; step = nextState(expected, facts)) expected = step.to
    expect({ ...cases[i], is: stateOf.get(planted[i]!.nodeId) }).toEqual({ ...cases[i], is: expected })
  }
  expect(await applyStateTransitions(0)).toBe(0)
})

test('patterns of lost heartbeats lead to the expected states at 119, 120, 121, 299, 300 and 301 s', async () => {
  const fixture = await plain()
  expect(await checkLossPatterns(t.runtime, fixture.system, 6)).toEqual({ checked: 64 * 3 * 12, wrong: [] })
})

test('STALE, OFFLINE and ACTIVE again: raises one alert each and records the reasons', async () => {
  const fixture = await plain()
  const [agent] = await insertAgents(fixture.system, 1, { state: 'PENDING' })
  await acceptHeartbeats(t.runtime, [heartbeatOf(agent!, 1, T0)], T0)
  expect(await statesOf(fixture)).toEqual(['ACTIVE'])
  for (const second of [120, 121, 200, 300, 301, 400]) await applyStateTransitions(second)
  expect(await statesOf(fixture)).toEqual(['OFFLINE'])
  expect(await kindsOf(fixture)).toEqual(['stale over', 'offline'])
  await acceptHeartbeats(t.runtime, [heartbeatOf(agent!, 2, at(401))], at(401))
  expect(await statesOf(fixture)).toEqual(['ACTIVE'])
  expect(await kindsOf(fixture)).toEqual(['stale over', 'offline over', 'recovered'])
  const timeline = await t.runtime.db
    .select()
    .from(agentTransitions)
    .where(eq(agentTransitions.nodeId, agent!.nodeId))
    .orderBy(agentTransitions.id)
  expect(timeline.map(({ from, to, reason }) => [from, to, reason])).toEqual([
    ['PENDING', 'ACTIVE', 'first_heartbeat'],
    ['ACTIVE', 'STALE', 'missed'],
    ['STALE', 'OFFLINE', 'silent'],
    ['OFFLINE', 'ACTIVE', 'heartbeats_resumed'],
  ])
  expect(timeline[2]!.evidence).toMatchObject({ silentSeconds: 301, sequence: 1 })
  expect(t.changeEvents.filter((changeEvent) => changeEvent.topic === 'node' && changeEvent.id === agent!.nodeId)).toHaveLength(4)
})

test('applies the thresholds of the tenant and deregisters agents that stay OFFLINE', async () => {
  const fixture = await plain()
  await updateAgentSettings(fixture.admin, { staleAfterSeconds: 60, offlineAfterSeconds: 600, deregisterAfterDays: 1 })
  await insertAgents(fixture.system, 1, { receivedAt: T0 })
  const seen: string[] = []
  for (const second of [60, 61, 600, 601, 601 + 86_400, 602 + 86_401]) {
    await applyStateTransitions(second)
    seen.push(...(await statesOf(fixture)))
  }
  expect(seen).toEqual(['ACTIVE', 'STALE', 'STALE', 'OFFLINE', 'OFFLINE', 'DEREGISTERED'])
  await expect(updateAgentSettings(fixture.admin, { staleAfterSeconds: 700 })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(updateAgentSettings(fixture.operator, { staleAfterSeconds: 70 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(updateAgentSettings(fixture.admin, { heartbeatIntervalSeconds: 31 })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: 'staleAfterSeconds', message: 'must be at least twice the 31 s between heartbeats' }],
  })
  expect(await updateAgentSettings(fixture.admin, { heartbeatIntervalSeconds: 5, staleAfterSeconds: 10 })).toMatchObject({
    offlineAfterSeconds: 600,
  })
})

test('a drain completes after the last job; follows drains by Slurm', async () => {
  const fixture = await plain()
  const [agent] = await insertAgents(fixture.system, 1)
  const { nodeId } = agent!
  let sequence = 0
  const beat = async (seconds: number, slurm_state: string, running_count: number) => {
    await acceptHeartbeats(
      t.runtime,
      [heartbeatOf(agent!, ++sequence, at(seconds), { health: { status: 'healthy', slurm_state }, jobs: { running_count } })],
      at(seconds),
    )
    await applyStateTransitions(seconds)
    return (await statesOf(fixture))[0]
  }
  expect(await beat(10, 'mixed', 2)).toBe('ACTIVE')
  expect((await drainAgent(fixture.operator, { nodeId, reason: 'new memory' })).state).toBe('DRAINING')
  await expect(drainAgent(fixture.operator, { nodeId, reason: 'again' })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(drainAgent(fixture.viewer, { nodeId, reason: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const other = await t.given.tenant()
  await expect(drainAgent(other.owner, { nodeId, reason: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await beat(40, 'mixed', 1)).toBe('DRAINING')
  expect(await beat(70, 'idle', 0)).toBe('DRAINED')
  expect((await resumeAgent(fixture.operator, { nodeId })).state).toBe('ACTIVE')
  await expect(resumeAgent(fixture.operator, { nodeId })).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await beat(100, 'MIXED+DRAIN', 1)).toBe('DRAINING')
  expect(await beat(130, 'IDLE+DRAIN', 0)).toBe('DRAINED')
  expect(await beat(160, 'idle', 0)).toBe('ACTIVE')
  // sinfo prints a line for each partition.
  expect(await beat(190, 'draining\ndraining', 1)).toBe('DRAINING')
  expect(await beat(220, 'drained\ndrained', 0)).toBe('DRAINED')
  expect(await beat(250, 'drain*\n'.repeat(2000), 0)).toBe('DRAINED')
  expect(await beat(280, 'IDLE*+DRAIN', 0)).toBe('DRAINED')
  const [stored] = await t.runtime.db.select().from(agentHeartbeats).where(eq(agentHeartbeats.nodeId, nodeId))
  expect(stored!.slurmState).toBe('IDLE*+DRAIN')
  expect(await beat(310, 'idle\nidle', 0)).toBe('ACTIVE')
})

test('mass outage: suppresses OFFLINE, raises one alert, and later restarts the thresholds', async () => {
  const fixture = await t.given.tenant()
  const dark = await insertAgents(fixture.system, 12, { prefix: 'dark', cluster: 'dark' })
  const lit = await insertAgents(fixture.system, 30, { prefix: 'lit', cluster: 'lit' })
  const sequences = new Map<string, number>()
  const next = ({ nodeId }: { nodeId: string }) => sequences.set(nodeId, (sequences.get(nodeId) ?? 0) + 1).get(nodeId)!
  const beats = (of: typeof dark, seconds: number) =>
    acceptHeartbeats(
      t.runtime,
      of.map((agent) => heartbeatOf(agent, next(agent), at(seconds))),
      at(seconds),
    )
  await beats([...dark, ...lit], 0)
  for (let second = 30; second <= 400; second += 10) {
    await beats(lit, second)
    await applyStateTransitions(second)
  }
  expect(new Set((await statesOf(fixture)).slice(0, 12))).toEqual(new Set(['STALE']))
  expect(await alertsOf(fixture)).toMatchObject([
    { kind: 'mass_outage', nodeId: null, cluster: 'dark', evidence: { silentNodes: 12, totalNodes: 12 } },
  ])
  // Seven return. The others are no longer a majority and become OFFLINE after two minutes.
  await beats(dark.slice(0, 7), 410)
  await applyStateTransitions(411)
  expect(await kindsOf(fixture)).toEqual(['mass_outage over'])
  for (let second = 410; second <= 530; second += 10) {
    await beats(second === 410 ? lit : [...dark.slice(0, 7), ...lit], second)
    await applyStateTransitions(second)
    expect(await statesOf(fixture)).not.toContain('OFFLINE')
  }
  await applyStateTransitions(532)
  expect((await statesOf(fixture)).filter((state) => state === 'OFFLINE')).toHaveLength(5)
  expect(await kindsOf(fixture)).toEqual(['mass_outage over', ...Array(5).fill('offline')])
})

test('a small silent cluster is OFFLINE, not a mass outage', async () => {
  const fixture = await t.given.tenant()
  await insertAgents(fixture.system, 9, { receivedAt: T0 })
  await applyStateTransitions(301)
  expect(new Set(await statesOf(fixture))).toEqual(new Set(['OFFLINE']))
})

test('a mass outage of a tenant raises one alert, and none per cluster', async () => {
  const fixture = await t.given.tenant()
  for (const cluster of ['a', 'b']) await insertAgents(fixture.system, 20, { prefix: cluster, cluster, receivedAt: T0 })
  for (let second = 60; second < 400; second += 15) await applyStateTransitions(second)
  expect(await alertsOf(fixture)).toMatchObject([{ kind: 'mass_outage', nodeId: null, cluster: null }])
  expect(new Set(await statesOf(fixture))).toEqual(new Set(['STALE']))
})

test('an API outage of ten minutes makes no agent STALE that kept sending', async () => {
  const own = await testRuntime()
  try {
    const fixture = await own.given.tenant()
    const all = await insertAgents(fixture.system, 20)
    const [dead, ...alive] = all
    const stateOf = async () => (await own.runtime.db.select().from(agents).orderBy(agents.agentId)).map(({ state }) => state)
    const beats = (of: typeof all, seconds: number, sequence: number) =>
      acceptHeartbeats(
        own.runtime,
        of.map((agent) => heartbeatOf(agent, sequence, at(seconds))),
        at(seconds),
      )
    await recordIngestLiveness(own.runtime, at(0))
    await beats(all, 0, 1)
    // No heartbeats, and no API process reports liveness.
    for (let second = 20; second <= 600; second += 20) await reconcileAgentStates(own.runtime, at(second))
    expect(new Set(await stateOf())).toEqual(new Set(['ACTIVE']))
    expect(await own.runtime.db.select().from(alerts)).toMatchObject([{ kind: 'mass_outage', nodeId: null, resolvedAt: null }])
    await recordIngestLiveness(own.runtime, at(600))
    expect((await own.runtime.db.select().from(ingestLiveness))[0]).toMatchObject({ upSince: at(600), downFrom: at(0) })
    // Agents return within interval and backoff. Heartbeats lost during the outage raise no alert.
    for (let second = 610; second <= 720; second += 10) {
      await recordIngestLiveness(own.runtime, at(second))
      if (second === 640) await beats(alive, second, 20)
      await reconcileAgentStates(own.runtime, at(second))
    }
    expect(new Set(await stateOf())).toEqual(new Set(['ACTIVE']))
    expect(await own.runtime.db.select().from(alerts)).toMatchObject([{ kind: 'mass_outage', resolvedAt: expect.any(Date) }])
    await reconcileAgentStates(own.runtime, at(720.5))
    expect((await stateOf())[0]).toBe('STALE')
    expect((await own.runtime.db.select().from(agents).where(eq(agents.nodeId, dead!.nodeId)))[0]!.state).toBe('STALE')
  } finally {
    await own.close()
  }
})
