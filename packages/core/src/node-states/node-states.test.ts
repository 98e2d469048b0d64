import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { agentKeys, agents, agentTransitions } from '../agents/index.ts'
import { alertDeliveries, alerts, createAlertRoute, planAlertDeliveries } from '../alerts/index.ts'
import { raiseAlerts } from '../alerts/raise-alerts.ts'
import { auditEntries } from '../audit/index.ts'
import { type ComputeNode, computeNodes, recommissionNode } from '../nodes/index.ts'
import { claimJobRun } from '../run-queue/index.ts'
import { cancelJobRun, endLostJobRuns, finishJobRun, previewRun, retryJobRun, runJob } from '../runs/index.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { insertAgentsOfNodes } from '../testing/insert-agents.ts'
import { insertRuns } from '../testing/insert-run.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { decommissionNode, endExpiredMaintenance, previewNodeState, setNodeMaintenance } from './index.ts'

let t: TestRuntime
let ours: TenantFixture
let nodes: ComputeNode[]
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  nodes = await t.given.fleet(ours.admin, { nodes: 3, with: { credentialId } })
})

const id = (i: number) => nodes[i]!.id
const nodeRow = async (i: number) =>
  (
    await t.runtime.db
      .select()
      .from(computeNodes)
      .where(eq(computeNodes.id, id(i)))
  )[0]!
const agentRow = async (i: number) =>
  (
    await t.runtime.db
      .select()
      .from(agents)
      .where(eq(agents.nodeId, id(i)))
  )[0]!
const raise = (i: number) =>
  t.runtime.db.transaction((tx) => raiseAlerts(tx, [{ tenantId: ours.tenant.id, nodeId: id(i), kind: 'offline', evidence: {} }]))
const actionsOf = async (i: number) =>
  (
    await t.runtime.db
      .select()
      .from(auditEntries)
      .where(eq(auditEntries.objectId, id(i)))
      .orderBy(auditEntries.id)
  ).map(({ action }) => action)
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)

test('maintenance has a reason and an end, is extended and ended by hand, and ends by itself', async () => {
  const until = inMinutes(30)
  await setNodeMaintenance(ours.operator, { id: id(0), isOn: true, reason: 'new memory', endsAt: until })
  expect(await nodeRow(0)).toMatchObject({
    ...{ status: 'MAINTENANCE', maintenanceReason: 'new memory', maintenanceUntil: until },
    maintenanceByName: ours.operator.actor.name,
  })
  const later = inMinutes(60)
  const { maintenanceAt } = await nodeRow(0)
  await setNodeMaintenance(ours.operator, { id: id(0), isOn: true, endsAt: later })
  expect(await nodeRow(0)).toMatchObject({ maintenanceAt, maintenanceReason: 'new memory', maintenanceUntil: later })
  expect(await endExpiredMaintenance(t.runtime)).toBe(0)
  await t.runtime.db
    .update(computeNodes)
    .set({ maintenanceUntil: sql`now()` })
    .where(eq(computeNodes.id, id(0)))
  expect(await endExpiredMaintenance(t.runtime)).toBe(1)
  expect(await nodeRow(0)).toMatchObject({
    status: 'READY',
    maintenanceAt: null,
    maintenanceReason: null,
    maintenanceByName: null,
  })
  expect(await actionsOf(0)).toEqual(['node.start_maintenance', 'node.start_maintenance', 'node.end_maintenance'])
  await setNodeMaintenance(ours.operator, { id: id(0), isOn: true })
  await setNodeMaintenance(ours.operator, { id: id(0), isOn: false })
  expect(await nodeRow(0)).toMatchObject({ maintenanceAt: null })
})

test.each([
  ['an end in the past', { isOn: true, endsAt: new Date(0) }, 'endsAt: must be in the future'],
  ['an end after a year', { isOn: true, endsAt: inMinutes(60 * 24 * 400) }, 'endsAt: must be within 366 days'],
  ['a reason without maintenance', { isOn: false, reason: 'x' }, 'enabled: must be true'],
])('rejects %s', async (_what, input, message) => {
  await expect(setNodeMaintenance(ours.operator, { id: id(0), ...input })).rejects.toThrow(message)
  await expect(setNodeMaintenance(ours.viewer, { id: id(0), isOn: true })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(setNodeMaintenance((await t.given.tenant()).owner, { id: id(0), isOn: true })).rejects.toThrow('There is no node')
})

test('alerts of a node in maintenance notify when it ends and they are still open', async () => {
  await createAlertRoute(ours.admin, {
    name: 'all',
    kind: 'webhook',
    url: 'https://hooks.test/',
    secret: 'a webhook secret',
    matcher: {},
  })
  const sent = async () =>
    (await t.runtime.db.select().from(alertDeliveries).where(eq(alertDeliveries.tenantId, ours.tenant.id))).flatMap((each) =>
      each.alerts.map(({ node }) => node),
    )
  await setNodeMaintenance(ours.operator, { id: id(0), isOn: true, endsAt: inMinutes(30) })
  await raise(0)
  await raise(1)
  await planAlertDeliveries(t.runtime)
  expect(await sent()).toEqual([nodes[1]!.name])
  await planAlertDeliveries(t.runtime)
  expect(await sent()).toHaveLength(1)
  await t.runtime.db
    .update(computeNodes)
    .set({ maintenanceUntil: sql`now()` })
    .where(eq(computeNodes.id, id(0)))
  await endExpiredMaintenance(t.runtime)
  await planAlertDeliveries(t.runtime)
  expect(await sent()).toEqual([nodes[1]!.name, nodes[0]!.name])
})

const REBOOT = { template: 'install_nvidia_driver', limit: 'gpu[001-002]', extraVars: { reboot_allowed: true } }

test('a run that may reboot its nodes sets their maintenance and ends it', async () => {
  await setNodeMaintenance(ours.operator, { id: id(2), isOn: true, reason: 'fan' })
  expect(await previewRun(ours.operator, REBOOT)).toMatchObject({ setsMaintenance: true })
  expect(await previewRun(ours.operator, { ...REBOOT, extraVars: {} })).toMatchObject({ setsMaintenance: false })
  expect(await previewRun(ours.operator, { ...REBOOT, checkMode: true })).toMatchObject({ setsMaintenance: false })
  const run = await runJob(ours.operator, REBOOT)
  expect((await nodeRow(0)).maintenanceAt).toBeNull()
  const { token } = (await claimJobRun(ours.worker, { id: run.id, workerId: 'w1' }))!
  expect(await nodeRow(0)).toMatchObject({
    ...{ status: 'MAINTENANCE', maintenanceRunId: run.id },
    maintenanceReason: `The run ${run.number} (install_nvidia_driver) may reboot the node.`,
  })
  // Other runs wait for the lock. The maintenance becomes that of the user who extends it.
  await runJob(ours.operator, { ...REBOOT, limit: 'gpu001', extraVars: {} })
  await setNodeMaintenance(ours.operator, { id: id(1), isOn: true, reason: 'more to do' })
  await finishJobRun(ours.worker, { id: run.id, token, hosts: [], endCause: 'exit', exitCode: 0 })
  expect(await nodeRow(0)).toMatchObject({ maintenanceAt: null, maintenanceRunId: null })
  expect(await nodeRow(1)).toMatchObject({ maintenanceReason: 'more to do', maintenanceUntil: null })
  expect(await nodeRow(2)).toMatchObject({ maintenanceReason: 'fan' })
})

test('a lost worker ends the maintenance of its run', async () => {
  const run = await runJob(ours.operator, { ...REBOOT, limit: 'gpu001' })
  await claimJobRun(ours.worker, { id: run.id, workerId: 'w1' })
  await t.runtime.db.update(jobRuns).set({ workerSeenAt: sql`now() - interval '1 hour'` }).where(eq(jobRuns.id, run.id))
  await endLostJobRuns(t.runtime)
  expect(await nodeRow(0)).toMatchObject({ maintenanceAt: null })
})

test('decommission deregisters the agent, revokes its keys, resolves its alerts and raises no more', async () => {
  await insertAgentsOfNodes(ours.system, [nodes[0]!], () => ({ receivedAt: new Date() }))
  await raise(0)
  await setNodeMaintenance(ours.operator, { id: id(0), isOn: true, reason: 'x' })
  const preview = await previewNodeState(ours.operator, { nodeIds: [id(0)], change: 'DECOMMISSION' })
  expect(preview).toMatchObject({ openAlerts: 1, agents: 1, rejections: new Map() })
  await decommissionNode(ours.operator, { id: id(0) })
  expect(await agentRow(0)).toMatchObject({ state: 'DEREGISTERED', stateReason: 'decommissioned' })
  expect(
    await t.runtime.db
      .select()
      .from(agentKeys)
      .where(eq(agentKeys.nodeId, id(0))),
  ).toMatchObject([{ status: 'REVOKED' }])
  const transitions = await t.runtime.db
    .select()
    .from(agentTransitions)
    .where(eq(agentTransitions.nodeId, id(0)))
  expect(transitions).toMatchObject([{ from: 'ACTIVE', to: 'DEREGISTERED' }])
  await raise(0)
  const open = await t.runtime.db
    .select()
    .from(alerts)
    .where(eq(alerts.nodeId, id(0)))
  expect(open).toMatchObject([{ resolvedAt: expect.any(Date) }])
  await recommissionNode(ours.operator, { id: id(0) })
  expect(await nodeRow(0)).toMatchObject({ status: 'NEW', maintenanceReason: null })
  expect(await agentRow(0)).toMatchObject({ state: 'DEREGISTERED' })
})

test('the preview of a decommission knows the runs of all nodes, also those that it does not list', async () => {
  await insertRuns(
    ours.system,
    Array.from({ length: 21 }, (_, i) => ({ status: 'PENDING' as const, nodes: [nodes[i < 20 ? 0 : 1]!] })),
  )
  const preview = await previewNodeState(ours.operator, { nodeIds: nodes.map((each) => each.id), change: 'DECOMMISSION' })
  expect(preview.runs).toHaveLength(20)
  expect([...preview.rejections.values()].flat().sort()).toEqual(['gpu001', 'gpu002'])
  for (const [reason] of preview.rejections) expect(reason).toContain('is a target of the unfinished run collect_facts')
  await expect(decommissionNode(ours.operator, { id: id(1) })).rejects.toThrow('unfinished run')
})

test('runs skip OFFLINE nodes with the reason, count them apart, and include them on request', async () => {
  await insertAgentsOfNodes(ours.system, nodes, (i) => ({ state: i === 1 ? 'OFFLINE' : 'ACTIVE' }))
  const input = { template: 'connectivity_check', limit: 'all' }
  const { hosts } = await previewRun(ours.operator, input)
  const reason = /^Skipped: the agent has been OFFLINE since 2020-01-01 00:00 UTC\.$/
  expect(hosts.map(({ skippedReason }) => skippedReason)).toEqual([null, expect.stringMatching(reason), null])
  const run = await runJob(ours.operator, input)
  expect(run).toMatchObject({ hostsTotal: 3, hostsOffline: 1, includeOffline: false })
  const { token, hosts: claimed } = (await claimJobRun(ours.worker, { id: run.id, workerId: 'w1' }))!
  expect(claimed.map(({ name }) => name)).toEqual(['gpu001', 'gpu003'])
  // A run that skips a node does not block its decommission.
  await decommissionNode(ours.operator, { id: id(1) })
  await recommissionNode(ours.operator, { id: id(1) })
  await t.runtime.db
    .update(agents)
    .set({ state: 'OFFLINE' })
    .where(eq(agents.nodeId, id(1)))
  const ok = { ok: 1, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0, result: 'OK' as const }
  const states = claimed.map(({ name }) => ({ ...ok, name, currentTask: null, currentTaskAt: null, message: null }))
  const ended = await finishJobRun(ours.worker, { id: run.id, token, hosts: states, endCause: 'exit', exitCode: 0 })
  expect(ended).toMatchObject({ status: 'SUCCEEDED', hostsOk: 2, hostsFailed: 0, hostsUnreachable: 0, hostsOffline: 1 })
  const [skipped] = await t.runtime.db
    .select()
    .from(jobRunHosts)
    .where(eq(jobRunHosts.nodeId, id(1)))
  expect(skipped).toMatchObject({ result: 'OFFLINE', message: expect.stringMatching(reason) })
  const retry = { id: run.id, hosts: ['OFFLINE' as const] }
  await expect(retryJobRun(ours.operator, retry)).rejects.toThrow('gpu002: the agent is OFFLINE, and runs skip such nodes')
  const retried = await retryJobRun(ours.operator, { ...retry, includeOffline: true })
  expect(retried).toMatchObject({ hostsTotal: 1, hostsOffline: 0, includeOffline: true })
  const forced = await runJob(ours.operator, { ...input, includeOffline: true })
  expect(forced).toMatchObject({ hostsTotal: 3, hostsOffline: 0 })
  for (const each of [retried, forced]) await cancelJobRun(ours.operator, { id: each.id })
})
