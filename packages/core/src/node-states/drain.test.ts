import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { agents, drainAgent, drainError, reconcileAgentStates, resumeAgent } from '../agents/index.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import { inTransaction } from '../kernel/context.ts'
import { computeNodes } from '../nodes/index.ts'
import { previewRun, runJob } from '../runs/index.ts'
import { claimSlurmAction, finishSlurmAction, recordSlurmCommand, slurmActions } from '../slurm-actions/index.ts'
import { insertAgentsOfNodes } from '../testing/insert-agents.ts'
import { slurmRunFixture } from '../testing/slurm-run-fixture.ts'
import { previewNodeState } from './preview-node-state.ts'

const { state, refresh, act, start } = slurmRunFixture()
const db = () => state().t.runtime.db

/** Agents of the nodes with these names: they report these numbers of jobs. */
async function agentsOn(jobs: Record<string, number | null>): Promise<Record<string, string>> {
  const nodes = await db().select().from(computeNodes).where(eq(computeNodes.tenantId, state().ours.tenant.id))
  const some = nodes.filter(({ name }) => name in jobs)
  await insertAgentsOfNodes(state().ours.system, some, (i) => ({
    receivedAt: new Date(),
    heartbeat: { runningJobs: jobs[some[i]!.name]! },
  }))
  return Object.fromEntries(some.map(({ id, name }) => [name, id]))
}
/** The next heartbeat. */
const report = (nodeId: string, columns: Partial<typeof agentHeartbeats.$inferInsert>) =>
  db()
    .update(agentHeartbeats)
    .set({ receivedAt: sql`now()`, ...columns })
    .where(eq(agentHeartbeats.nodeId, nodeId))
const agentOn = async (nodeId: string) => (await db().select().from(agents).where(eq(agents.nodeId, nodeId)))[0]!
async function stateOf(nodeId: string): Promise<string> {
  await reconcileAgentStates(state().t.runtime)
  return (await agentOn(nodeId)).state
}
const change = (more: object = {}) =>
  runJob(state().ours.operator, { template: 'install_nvidia_driver', limit: 'gpu001', ...more })

test('drains in Slurm with a reason of its own; DRAINED needs the word of the controller; resumes only that drain', async () => {
  const { ours, slurm, cluster } = state()
  const { gpu001: nodeId } = await agentsOn({ gpu001: 0 })
  slurm.get('gpu001')!.jobs = [{ id: 7 }]
  await refresh()
  expect(await previewNodeState(ours.operator, { nodeIds: [nodeId!], change: 'DRAIN' })).toMatchObject({
    ...{ slurmJobIds: ['7'], slurm: [{ clusterName: 'prod', names: ['gpu001'] }] },
    rejections: new Map(),
  })
  expect(await db().select().from(slurmActions).where(eq(slurmActions.clusterId, cluster.id))).toEqual([])
  expect(await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'new memory' })).toMatchObject({ state: 'DRAINING' })
  await expect(resumeAgent(ours.operator, { nodeId: nodeId! })).rejects.toThrow('has not been executed yet')
  expect(await act()).toEqual(['DRAIN_NODES gpu001'])
  expect(slurm.get('gpu001')!.reason).toMatch(/^new memory \(muster [0-9a-f]{12}\)$/)
  // The agent reports no job, but the controller has one.
  await refresh()
  await report(nodeId!, { runningJobs: 0 })
  expect(await stateOf(nodeId!)).toBe('DRAINING')
  slurm.get('gpu001')!.jobs = []
  await refresh()
  expect(await stateOf(nodeId!)).toBe('DRAINED')
  await resumeAgent(ours.operator, { nodeId: nodeId! })
  await act()
  expect(slurm.get('gpu001')).toMatchObject({ states: ['IDLE'], reason: null })
  expect(await stateOf(nodeId!)).toBe('ACTIVE')
})

test('shows why Slurm did not drain the node, and repeats the drain on request', async () => {
  const { ours, slurm } = state()
  const { gpu001: nodeId } = await agentsOn({ gpu001: 0 })
  const drain = (reason: string) => drainAgent(ours.operator, { nodeId: nodeId!, reason })
  await drain('new memory')
  await expect(drain('again')).rejects.toThrow('already being drained')
  await act({ isRefused: true })
  expect(drainError(await agentOn(nodeId!))).toBe('The drain of gpu001 in the cluster prod failed (REFUSED): Access denied')
  expect(await previewNodeState(ours.operator, { nodeIds: [nodeId!], change: 'DRAIN' })).toMatchObject({ rejections: new Map() })
  expect(await drain('second try')).toMatchObject({ state: 'DRAINING', drainReason: 'second try' })
  expect(drainError(await agentOn(nodeId!))).toBeNull()
  await expect(drain('third try')).rejects.toThrow('already being drained')
  expect(await act()).toEqual(['DRAIN_NODES gpu001'])
  expect(slurm.get('gpu001')!.reason).toMatch(/^second try \(muster /)
  // The controller says DRAINED*: slurmd is silent.
  slurm.get('gpu001')!.states.push('NOT_RESPONDING')
  await refresh()
  expect(await stateOf(nodeId!)).toBe('DRAINED')
  await resumeAgent(ours.operator, { nodeId: nodeId! })
  await act()
  expect(slurm.get('gpu001')!.states).not.toContain('DRAIN')
})

test('a repeated drain whose first command may have worked keeps its reason, and is ended', async () => {
  const { ours, slurm } = state()
  const { gpu001: nodeId } = await agentsOn({ gpu001: 0 })
  await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'first' })
  const [first] = (await agentOn(nodeId!)).slurmDrains
  const claim = { id: first!.actionId, token: 'lost' }
  await claimSlurmAction(ours.worker, claim)
  await recordSlurmCommand(ours.worker, { ...claim, command: 'x', targets: [{ target: 'gpu001', before: 'IDLE' }] })
  await finishSlurmAction(ours.worker, { ...claim, error: 'The controller does not answer.' })
  Object.assign(slurm.get('gpu001')!, { states: ['IDLE', 'DRAIN'], reason: first!.reason })
  expect(await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'second' })).toMatchObject({
    slurmDrains: [{ reason: first!.reason }],
  })
  await act()
  await resumeAgent(ours.operator, { nodeId: nodeId! })
  await act()
  expect(slurm.get('gpu001')).toMatchObject({ states: ['IDLE'], reason: null })
})

test('a node that its cluster no longer has is drained there', async () => {
  const { ours, slurm } = state()
  const { gpu001: nodeId } = await agentsOn({ gpu001: 0 })
  await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'replace' })
  slurm.delete('gpu001')
  await act()
  expect(await stateOf(nodeId!)).toBe('DRAINING')
  await refresh()
  expect(await stateOf(nodeId!)).toBe('DRAINED')
})

test('keeps and never ends the drain of another', async () => {
  const { ours, slurm } = state()
  const { gpu002: nodeId } = await agentsOn({ gpu002: 0 })
  Object.assign(slurm.get('gpu002')!, { states: ['IDLE', 'DRAIN'], reason: 'bad fan' })
  await refresh()
  await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'new memory' })
  await act()
  expect(slurm.get('gpu002')!.reason).toBe('bad fan')
  await resumeAgent(ours.operator, { nodeId: nodeId! })
  await act()
  expect(slurm.get('gpu002')).toMatchObject({ states: ['IDLE', 'DRAIN'], reason: 'bad fan' })
})

test('asks for the permission in Slurm, and for a controller node', async () => {
  const { t, ours } = state()
  const { gpu003: nodeId } = await agentsOn({ gpu003: 0 })
  const noSlurm = { ...ours.operator.actor, permissions: new Set(['agent:write']), grants: [] }
  const limited = { ...ours.operator, actor: noSlurm } as typeof ours.operator
  await expect(drainAgent(limited, { nodeId: nodeId!, reason: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await t.runtime.db.execute(sql`update slurm_clusters set controller_node_id = null where tenant_id = ${ours.tenant.id}`)
  await expect(drainAgent(ours.operator, { nodeId: nodeId!, reason: 'x' })).rejects.toThrow('no controller node')
  expect(await stateOf(nodeId!)).toBe('ACTIVE')
})

test('without Slurm, only a reported zero of jobs after the request makes it DRAINED', async () => {
  const { ours } = state()
  await state().t.given.fleet(ours.admin, { nodes: 1, prefix: 'login' })
  const { login001: nodeId } = await agentsOn({ login001: null })
  await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'move' })
  await report(nodeId!, { runningJobs: null })
  expect(await stateOf(nodeId!)).toBe('DRAINING')
  await report(nodeId!, { runningJobs: 0, receivedAt: sql`now() - interval '1 minute'` as never })
  expect(await stateOf(nodeId!)).toBe('DRAINING')
  await report(nodeId!, { runningJobs: 0 })
  expect(await stateOf(nodeId!)).toBe('DRAINED')
})

test('refuses runs that change a draining node, at the field; checks, read-only runs and DRAINED nodes are allowed', async () => {
  const { ours } = state()
  const { gpu001: nodeId } = await agentsOn({ gpu001: 2 })
  await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'new memory' })
  const reason = `gpu001: draining for ${ours.operator.actor.name} (new memory), running jobs: 2; wait until drained, or resume`
  await expect(change()).rejects.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'limit', message: reason }] })
  const { hosts } = await previewRun(ours.operator, { template: 'install_nvidia_driver', limit: 'gpu001' })
  expect(`gpu001: ${hosts[0]!.blockedReason}`).toBe(reason)
  await change({ checkMode: true })
  await runJob(ours.operator, { template: 'connectivity_check', limit: 'gpu001' })
  await expect(start({}, { template: 'install_nvidia_driver', limit: 'gpu001' })).rejects.toThrow('draining for')
  await db().update(agents).set({ state: 'DRAINED' }).where(eq(agents.nodeId, nodeId!))
  await expect(change()).rejects.toThrow('running jobs: 2')
  await report(nodeId!, { runningJobs: 0 })
  await change()
})

test('a drained node that went OFFLINE accepts runs that include it', async () => {
  const { ours } = state()
  const { gpu001: nodeId } = await agentsOn({ gpu001: 0 })
  await drainAgent(ours.operator, { nodeId: nodeId!, reason: 'new memory' })
  await db().update(agents).set({ state: 'OFFLINE' }).where(eq(agents.nodeId, nodeId!))
  await expect(change()).rejects.toThrow('the agent is OFFLINE')
  expect(await change({ includeOffline: true })).toMatchObject({ hostsTotal: 1, hostsOffline: 0 })
})

test('refuses runs while Slurm drains the node, except for those that wait for its jobs', async () => {
  const { gpu001: nodeId } = await agentsOn({ gpu001: 1 })
  await report(nodeId!, { reportedDrain: 'DRAINING' })
  expect(await stateOf(nodeId!)).toBe('DRAINING')
  await expect(change()).rejects.toThrow('gpu001: Slurm is draining, running jobs: 1; wait until drained, or resume in Slurm')
  await start({}, { template: 'install_nvidia_driver', limit: 'gpu001' })
})

/** Number of statements that wait for a lock. */
const waiting = async () =>
  (await state().t.appPool.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
    .rowCount

test('a drain and a start at the same time: the run is enqueued before the drain, or refused', async () => {
  const { ours } = state()
  const { gpu001: nodeId } = await agentsOn({ gpu001: 1 })
  let run: Promise<unknown> | undefined
  await inTransaction(ours.operator, async (_tx, ctx) => {
    await drainAgent(ctx, { nodeId: nodeId!, reason: 'first' })
    run = change().catch((error: Error) => error)
    await expect.poll(waiting).toBe(1)
  })
  expect(String(await run)).toMatch(/draining for .* \(first\)/)
  await resumeAgent(ours.operator, { nodeId: nodeId! }).catch(() =>
    act().then(() => resumeAgent(ours.operator, { nodeId: nodeId! })),
  )
  // The other order.
  let drain: Promise<unknown> | undefined
  await inTransaction(ours.operator, async (_tx, ctx) => {
    await runJob(ctx, { template: 'install_nvidia_driver', limit: 'gpu001' })
    drain = drainAgent(ours.operator, { nodeId: nodeId!, reason: 'second' })
    await expect.poll(waiting).toBe(1)
  })
  await drain
  const { runs } = await previewNodeState(ours.operator, { nodeIds: [nodeId!], change: 'MAINTENANCE' })
  expect(runs).toMatchObject([{ templateName: 'install_nvidia_driver', hosts: ['gpu001'] }])
})
