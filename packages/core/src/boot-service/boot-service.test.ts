import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { alerts } from '../alerts/index.ts'
import { createNodeGroup, setNodeGroupMembers } from '../groups/index.ts'
import { purgeNode, updateNode } from '../nodes/index.ts'
import { computeNodes, nodeInterfaces } from '../nodes/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { insertAgents } from '../testing/insert-agents.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { acceptUnknownMachine } from './accept-unknown-machine.ts'
import { completePhoneHome } from './complete-phone-home.ts'
import type { FetchRecord } from './fetch-record.ts'
import { findBootNodes } from './find-boot-nodes.ts'
import { observeBoots } from './observe-boots.ts'
import { pruneBootRecords } from './prune-boot-records.ts'
import { readBootDurations } from './read-boot-durations.ts'
import { recordBootFetches } from './record-boot-fetches.ts'
import { recordBootStage } from './record-boot-stage.ts'
import { rejectUnknownMachine } from './reject-unknown-machine.ts'
import { MAX_UNKNOWN_MACHINES, reportUnknownMachines } from './report-unknown-machines.ts'
import { bootAttempts, bootFetches, bootStageTimes, unknownMachines } from './tables.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
})
afterAll(() => t.close())

const macOf = (i: number) => `02:00:00:00:${String(i >> 8).padStart(2, '0')}:${(i & 255).toString(16).padStart(2, '0')}`
const machineOf = async (ctx = ours.system, mac = macOf(1)) => {
  await reportUnknownMachines(ctx, [{ mac, address: '10.0.0.9' }])
  return (await ctx.db.select().from(unknownMachines).where(eq(unknownMachines.mac, mac)))[0]!
}
const nodeOf = async () => (await t.given.fleet(ours.operator, { nodes: 1, prefix: 'n', with: { lastSeenAt: null } }))[0]!
const fetchOf = (node: { id: string; name: string }, more: Partial<FetchRecord> = {}): FetchRecord => ({
  nodeId: node.id,
  nodeName: node.name,
  kind: 'BOOT_SCRIPT',
  hash: 'aa',
  profile: 'compute',
  profileVersion: 3,
  address: '10.0.0.9',
  mac: macOf(1),
  ...more,
})
const fetch = async (node: { id: string; name: string }, more: Partial<FetchRecord> = {}) =>
  (await recordBootFetches(ours.system, [fetchOf(node, more)]))[0]!
const attemptsOf = (nodeId: string) =>
  ours.system.db.select().from(bootAttempts).where(eq(bootAttempts.nodeId, nodeId)).orderBy(bootAttempts.id)
const stagesOf = async (attemptId: string) =>
  (await t.runtime.db.select().from(bootStageTimes).where(eq(bootStageTimes.attemptId, attemptId))).map(({ stage }) => stage)
const alertsOf = (nodeId: string) => t.runtime.db.select().from(alerts).where(eq(alerts.nodeId, nodeId))
const makeOlder = (attemptId: string, minutes: number) =>
  t.runtime.db
    .update(bootStageTimes)
    .set({ reachedAt: sql`reached_at - make_interval(mins => ${minutes})` })
    .where(eq(bootStageTimes.attemptId, attemptId))

describe('unknown machines', () => {
  test('a repeated report adds to the known one and keeps what it omits', async () => {
    await reportUnknownMachines(ours.system, [{ mac: macOf(1), arch: 'x86_64', serial: 'S1', address: '10.0.0.9' }])
    await reportUnknownMachines(ours.system, [{ mac: macOf(1), address: '10.0.0.10' }])
    expect(await ours.system.db.select().from(unknownMachines)).toMatchObject([
      { mac: macOf(1), arch: 'x86_64', serial: 'S1', requests: 2, seenFrom: '10.0.0.10', state: 'NEW' },
    ])
    expect(await theirs.system.db.select().from(unknownMachines)).toEqual([])
  })

  test('a flood of MACs removes the machines seen longest ago, and no decision', async () => {
    const rejected = await rejectUnknownMachine(ours.operator, { id: (await machineOf()).id })
    const some = (from: number) =>
      Array.from({ length: MAX_UNKNOWN_MACHINES }, (_, i) => ({ mac: macOf(from + i), address: null }))
    await reportUnknownMachines(ours.system, some(1000))
    await t.runtime.db.update(unknownMachines).set({ lastSeenAt: sql`now() - interval '1 hour'` })
    const waiting = macOf(1007)
    await reportUnknownMachines(ours.system, [{ mac: waiting, address: null }])
    await reportUnknownMachines(ours.system, some(3000).slice(1))
    const left = await ours.system.db.select().from(unknownMachines).where(eq(unknownMachines.state, 'NEW'))
    expect(left).toHaveLength(MAX_UNKNOWN_MACHINES)
    expect(left.map(({ mac }) => mac)).toContain(waiting)
    expect(left.map(({ mac }) => mac)).not.toContain(macOf(1008))
    expect(await ours.system.db.select().from(unknownMachines).where(eq(unknownMachines.id, rejected.id))).toHaveLength(1)
  })

  test('becomes a new node with its interfaces, and is found by its MAC', async () => {
    const interfaces = [
      { name: 'eth1', mac: macOf(2) },
      { name: 'not valid!', mac: macOf(1) },
    ]
    await reportUnknownMachines(ours.system, [{ mac: macOf(1), interfaces, address: null }])
    const { id } = (await ours.system.db.select().from(unknownMachines))[0]!
    const machine = await acceptUnknownMachine(ours.operator, { id, name: 'cn-1', host: '10.0.0.1', idempotencyKey: 'a' })
    expect(await acceptUnknownMachine(ours.operator, { id, name: 'cn-1', host: '10.0.0.1', idempotencyKey: 'a' })).toEqual(
      machine,
    )
    const [node] = await findBootNodes(ours.system, [{ mac: macOf(1) }])
    expect(node).toMatchObject({ name: 'cn-1', bootMac: macOf(1), id: machine.nodeId })
    expect(
      await ours.system.db
        .select({ name: nodeInterfaces.name, mac: nodeInterfaces.mac, isBoot: nodeInterfaces.isBoot })
        .from(nodeInterfaces)
        .orderBy(nodeInterfaces.position),
    ).toEqual([
      { name: 'net0', mac: macOf(1), isBoot: true },
      { name: 'eth1', mac: macOf(2), isBoot: false },
    ])
    await expect(acceptUnknownMachine(ours.operator, { id, name: 'cn-2' })).rejects.toThrow(
      `The machine ${macOf(1)} is already accepted.`,
    )
  })

  test('gives its MAC to an existing node, whose other interfaces stay', async () => {
    const node = await nodeOf()
    await updateNode(ours.operator, { id: node.id, interfaces: [{ name: 'net0', mac: macOf(7), isBoot: true }] })
    const { id } = await machineOf()
    await acceptUnknownMachine(ours.operator, { id, nodeId: node.id })
    const rows = await ours.system.db.select().from(nodeInterfaces).orderBy(nodeInterfaces.position)
    expect(rows.map(({ name, mac, isBoot }) => ({ name, mac, isBoot }))).toEqual([
      { name: 'net0', mac: macOf(7), isBoot: false },
      { name: 'net1', mac: macOf(1), isBoot: true },
    ])
  })

  test('of two concurrent decisions one fails, and other tenants find nothing', async () => {
    const { id } = await machineOf()
    await expect(rejectUnknownMachine(theirs.operator, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(acceptUnknownMachine(theirs.operator, { id, name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const [foreign] = await t.given.fleet(theirs.operator, { nodes: 1 })
    await expect(acceptUnknownMachine(ours.operator, { id, nodeId: foreign!.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const results = await Promise.allSettled([
      acceptUnknownMachine(ours.operator, { id, name: 'a' }),
      acceptUnknownMachine(ours.operator, { id, name: 'b' }),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'CONFLICT' } })
  })

  test('is new again when its node is gone', async () => {
    const { id } = await machineOf()
    const { nodeId } = await acceptUnknownMachine(ours.operator, { id, name: 'a' })
    await t.runtime.db.delete(nodeInterfaces).where(eq(nodeInterfaces.nodeId, nodeId!))
    expect(await machineOf()).toMatchObject({ id, state: 'NEW', nodeId: null })
  })
})

test('finds nodes by MAC, then name or xname, then NID', async () => {
  const [a, b] = await t.given.fleet(ours.operator, { nodes: 2, prefix: 'n' })
  await updateNode(ours.operator, { id: a!.id, nid: 7, xname: 'x1000c0s0b0n0', interfaces: [{ name: 'e', mac: macOf(1) }] })
  const found = await findBootNodes(ours.system, [
    { mac: macOf(1), name: b!.name },
    { name: b!.name, nid: 7 },
    { name: 'X1000C0S00B0N0' },
    { nid: 7 },
    { mac: macOf(9), name: a!.name },
    {},
  ])
  expect(found.map((node) => node?.name)).toEqual([a!.name, b!.name, a!.name, a!.name, undefined, undefined])
  expect(await findBootNodes(theirs.system, [{ mac: macOf(1) }, { nid: 7 }])).toEqual([null, null])
})

describe('attempts', () => {
  test('a retry stays in the boot; a boot script after the kernel begins another', async () => {
    const node = await nodeOf()
    const first = await fetch(node)
    expect((await fetch(node)).attemptId).toBe(first.attemptId)
    await makeOlder(first.attemptId, 5)
    expect((await fetch(node, { isRetry: true })).attemptId).toBe(first.attemptId)
    await fetch(node, { kind: 'META_DATA' })
    const second = await fetch(node)
    expect(second.attemptId).not.toBe(first.attemptId)
    expect(await attemptsOf(node.id)).toMatchObject([
      { state: 'ABANDONED', cause: 'BOOT_SCRIPT', mac: macOf(1), profile: 'compute', profileVersion: 3 },
      { state: 'BOOTING' },
    ])
    expect(await ours.system.db.select().from(bootFetches).where(eq(bootFetches.attemptId, first.attemptId))).toMatchObject([
      { kind: 'BOOT_SCRIPT', count: 3 },
      { kind: 'META_DATA', count: 1 },
    ])
  })

  test('the boot script belongs to the boot that began when the node was switched on', async () => {
    const node = await nodeOf()
    await recordBootStage(ours.system, { nodeIds: [node.id], stage: 'POWER_ON' })
    const { attemptId } = await fetch(node)
    expect(await attemptsOf(node.id)).toMatchObject([{ id: attemptId, cause: 'POWER_ON', mac: macOf(1), profile: 'compute' }])
  })

  test('a switch-on that is reported after the boot script belongs to the same boot', async () => {
    const node = await nodeOf()
    const { attemptId } = await fetch(node)
    await recordBootStage(ours.system, { nodeIds: [node.id], stage: 'POWER_ON', at: new Date(Date.now() - 60_000) })
    expect(await attemptsOf(node.id)).toMatchObject([{ id: attemptId, state: 'BOOTING' }])
    expect(await stagesOf(attemptId)).toEqual(expect.arrayContaining(['POWER_ON', 'BOOT_SCRIPT']))
  })

  test('concurrent requests begin one attempt', async () => {
    const node = await nodeOf()
    const results = await Promise.all(Array.from({ length: 5 }, () => fetch(node)))
    expect(new Set(results.map(({ attemptId }) => attemptId)).size).toBe(1)
    expect(await ours.system.db.select().from(bootFetches)).toMatchObject([{ count: 5 }])
  })
})

describe('tokens', () => {
  const userData = (node: { id: string; name: string }, more: Partial<FetchRecord> = {}) =>
    fetch(node, { kind: 'USER_DATA', hash: 'bb', mac: null, token: { reason: null }, ...more })

  test('one per boot: a second request gets none and raises an alert', async () => {
    const node = await nodeOf()
    await fetch(node)
    const { won } = await race(userData(node), userData(node))
    const tokens = won.flatMap(({ token }) => token ?? [])
    expect(tokens).toHaveLength(1)
    expect(await alertsOf(node.id)).toMatchObject([
      { kind: 'boot_token_refused', evidence: { reason: 'the token of this boot was already sent' } },
    ])
    expect(JSON.stringify(await t.runtime.db.execute(sql`select * from boot_tokens`))).not.toContain(tokens[0])
  })

  test('none without a MAC, without a boot script, or when the connection must not carry one', async () => {
    const node = await nodeOf()
    expect(await userData(node)).toMatchObject({ token: null, refusal: expect.stringContaining('not fetched with a MAC') })
    await fetch(node)
    expect(await userData(node, { token: { reason: 'no TLS' } })).toMatchObject({ token: null, refusal: 'no TLS' })
    expect(await alertsOf(node.id)).toEqual([])
  })

  test('none while the agent of the node sends heartbeats', async () => {
    const [agent] = await insertAgents({ db: t.runtime.db, tenantId: ours.tenant.id }, 1)
    const [node] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, agent!.nodeId))
    await fetch(node!)
    await t.runtime.db.execute(
      sql`update agent_heartbeats set received_at = now() + interval '1 second' where node_id = ${node!.id}`,
    )
    expect(await userData(node!)).toMatchObject({ token: null, refusal: 'the agent of the node still sends heartbeats' })
    expect(await alertsOf(node!.id)).toMatchObject([{ kind: 'boot_token_refused' }])
  })

  const finish = async (attemptId: string) => {
    await t.runtime.db.update(bootAttempts).set({ finishedAt: sql`now()` }).where(eq(bootAttempts.id, attemptId))
  }
  const reachContact = async (attemptId: string) => {
    await t.runtime.db.insert(bootStageTimes).values({ attemptId, stage: 'FIRST_CONTACT', reachedAt: new Date() })
  }

  test.each([
    ['READY', finish],
    ['in contact', reachContact],
  ])('user-data of a node that is %s begin a boot: its script may be lost; no token and no alert', async (_, endBoot) => {
    const node = await nodeOf()
    const { attemptId } = await fetch(node)
    expect(await userData(node)).toMatchObject({ attemptId, token: expect.any(String) })
    await endBoot(attemptId)
    const lost = await userData(node)
    expect(lost).toMatchObject({ token: null, refusal: expect.stringContaining('not fetched with a MAC') })
    const attempts = await attemptsOf(node.id)
    expect(attempts).toMatchObject([{ id: attemptId }, { id: lost.attemptId, cause: 'CLOUD_INIT', state: 'BOOTING', mac: null }])
    expect(await stagesOf(lost.attemptId)).toEqual(['CLOUD_INIT'])
    expect(await alertsOf(node.id)).toEqual([])
    // The next recorded script begins a boot with a token again.
    await fetch(node)
    expect(await userData(node)).toMatchObject({ token: expect.any(String), refusal: null })
  })

  test('user-data of a READY node with a running agent begin no boot and raise an alert', async () => {
    const [agent] = await insertAgents({ db: t.runtime.db, tenantId: ours.tenant.id }, 1)
    const [node] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, agent!.nodeId))
    const heartbeat = (at: 'now' | 'before') =>
      t.runtime.db.execute(
        sql`update agent_heartbeats set received_at = now() - make_interval(secs => ${at === 'now' ? 0 : 300}) where node_id = ${node!.id}`,
      )
    await heartbeat('before')
    const { attemptId } = await fetch(node!)
    await userData(node!)
    await finish(attemptId)
    await heartbeat('now')
    expect(await userData(node!)).toMatchObject({ attemptId, token: null, refusal: 'the token of this boot was already sent' })
    expect(await alertsOf(node!.id)).toMatchObject([{ kind: 'boot_token_refused' }])
    // Its agent has been silent since it went down.
    await heartbeat('before')
    expect((await userData(node!)).attemptId).not.toBe(attemptId)
  })

  test('a phone-home uses it up; a replay is refused and raises an alert', async () => {
    const node = await nodeOf()
    await t.runtime.db.update(computeNodes).set({ hostKey: null }).where(eq(computeNodes.id, node.id))
    await fetch(node)
    const { token, attemptId } = await userData(node)
    const report = { token: token!, hash: 'cc', hostKey: node.hostKey, address: '10.0.0.9' }
    await expect(completePhoneHome(theirs.system, report)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await completePhoneHome(ours.system, report)).toMatchObject({ nodeId: node.id })
    expect(await stagesOf(attemptId)).toEqual(expect.arrayContaining(['BOOT_SCRIPT', 'CLOUD_INIT', 'PHONE_HOME']))
    expect(await alertsOf(node.id)).toEqual([])
    await expect(completePhoneHome(ours.system, report)).rejects.toThrow('the token was already used')
    expect(await alertsOf(node.id)).toMatchObject([{ kind: 'boot_token_refused' }])
    const [after] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, node.id))
    expect(after).toMatchObject({ hostKey: null, offeredHostKey: node.hostKey })
  })
})

describe('stages', () => {
  test('contact after the boot script makes a READY node end its boot', async () => {
    const node = await nodeOf()
    const { attemptId } = await fetch(node)
    await observeBoots(t.runtime)
    expect(await stagesOf(attemptId)).toEqual(['BOOT_SCRIPT'])
    await t.runtime.db.update(computeNodes).set({ lastSeenAt: sql`now()`, discoveredAt: sql`now()`, bootedAt: sql`now()` })
    await observeBoots(t.runtime)
    expect((await stagesOf(attemptId)).sort()).toEqual(['BOOT_SCRIPT', 'DISCOVERED', 'FIRST_CONTACT', 'KERNEL', 'READY'])
    expect(await attemptsOf(node.id)).toMatchObject([{ state: 'READY' }])
    const [group, empty] = [
      await createNodeGroup(ours.operator, { name: 'a' }),
      await createNodeGroup(ours.operator, { name: 'b' }),
    ]
    await setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: [node.id] })
    expect(await readBootDurations(ours.viewer, { groupId: empty.id })).toEqual([])
    await expect(readBootDurations(theirs.viewer, { groupId: group.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await readBootDurations(ours.viewer, { groupId: group.id, profile: 'compute' })).toMatchObject([
      { stage: 'KERNEL', boots: 1 },
      { stage: 'FIRST_CONTACT', boots: 1 },
      { stage: 'DISCOVERED', boots: 1 },
      { stage: 'READY', boots: 1 },
    ])
    expect(await readBootDurations(ours.viewer, { profile: 'another' })).toEqual([])
    expect(await readBootDurations(theirs.viewer)).toEqual([])
  })

  test('a boot without progress raises one alert, which progress resolves', async () => {
    const node = await nodeOf()
    const open = async () =>
      (await alertsOf(node.id))
        .filter(({ resolvedAt }) => !resolvedAt)
        .map(({ kind, evidence, count }) => ({ kind, evidence, count }))
    await updateNode(ours.operator, { id: node.id, interfaces: [{ name: 'e', mac: macOf(1), isBoot: true }] })
    await recordBootStage(ours.system, { nodeIds: [node.id], stage: 'POWER_ON' })
    await observeBoots(t.runtime)
    expect(await open()).toEqual([])
    await makeOlder((await attemptsOf(node.id))[0]!.id, 16)
    await observeBoots(t.runtime)
    await observeBoots(t.runtime)
    expect(await open()).toMatchObject([{ kind: 'boot_no_fetch', evidence: { stage: 'POWER_ON' }, count: 1 }])
    const { attemptId } = await fetch(node)
    await observeBoots(t.runtime)
    expect(await open()).toEqual([])
    await makeOlder(attemptId, 16)
    await observeBoots(t.runtime)
    expect(await open()).toMatchObject([{ kind: 'boot_stuck', evidence: { stage: 'BOOT_SCRIPT' } }])
  })

  test('retention deletes old boots and machines', async () => {
    const node = await nodeOf()
    await fetch(node)
    const { id } = await machineOf()
    expect(await pruneBootRecords(t.runtime)).toEqual({ bootAttempts: 0, unknownMachines: 0 })
    await t.runtime.db.update(bootAttempts).set({ startedAt: sql`now() - interval '91 days'` })
    await t.runtime.db
      .update(unknownMachines)
      .set({ lastSeenAt: sql`now() - interval '8 days'` })
      .where(and(eq(unknownMachines.id, id)))
    const pruned = await pruneBootRecords(t.runtime)
    expect(pruned.unknownMachines).toBe(1)
    expect(await attemptsOf(node.id)).toEqual([])
    expect(await ours.system.db.select().from(bootFetches)).toEqual([])
  })
})

test('a purged node takes its boots along', async () => {
  const node = await nodeOf()
  await fetch(node)
  await t.runtime.db.update(computeNodes).set({ decommissionedAt: sql`now()` }).where(eq(computeNodes.id, node.id))
  await purgeNode(ours.admin, { id: node.id })
  expect(await attemptsOf(node.id)).toEqual([])
})
