import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { credentials } from '../credentials/index.ts'
import { discoveries, discoverNodes, failStalledWork, startDiscovery } from '../discoveries/index.ts'
import { computeNodes, updateNode } from '../nodes/index.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import { makeHostKey, type TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { finishConnectionTest } from './finish-connection-test.ts'
import { recordOfferedHostKey } from './record-offered-host-key.ts'
import { recordPreflightStage } from './record-preflight-stage.ts'
import { startConnectionTest } from './start-connection-test.ts'
import { connectionTests } from './tables.ts'
import { testConnections } from './test-connections.ts'
import { testCredential } from './test-credential.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

let seen = 0
const aNode = async (fields: Partial<ComputeNode> = {}) =>
  (await t.given.fleet(ours.operator, { prefix: `c${++seen}x`, with: fields }))[0]!
const now = async (id: string) => (await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, id)))[0]!
const aTest = async (node: ComputeNode) => (await testConnections(ours.operator, { nodeIds: [node.id] }))[0]!
const queued = async (queue: string): Promise<string[]> =>
  (await t.runtime.db.execute<{ id: string }>(sql`select data->>'id' as id from pgboss.job where name = ${queue}`)).rows.map(
    (r) => r.id,
  )
const NEW = { readyAt: null, lastSeenAt: null }

describe('testConnections', () => {
  test('creates one test per node, in order, and triggers a worker', async () => {
    const nodes = [await aNode(), await aNode({ hostKey: null })]
    const ids = nodes.map((n) => n.id).reverse()
    const tests = await testConnections(ours.operator, { nodeIds: [...ids, ids[0]!] })
    expect(tests.map((x) => x.nodeId)).toEqual(ids)
    expect(tests[0]).toMatchObject({ stages: [], isOk: null, startedAt: null, finishedAt: null })
    expect(await queued('connection-test')).toEqual(expect.arrayContaining(tests.map((x) => x.id)))
  })

  test('rejects a decommissioned node by name, and an empty list', async () => {
    const node = await aNode({ decommissionedAt: new Date() })
    await expect(testConnections(ours.operator, { nodeIds: [node.id] })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(node.name),
    })
    await expect(testConnections(ours.operator, { nodeIds: [] })).rejects.toMatchObject({ issues: [{ path: 'nodeIds' }] })
  })
})

test('only one worker claims a test; its stages are in order, and it ends once', async () => {
  const node = await aNode(NEW)
  const { id } = await aTest(node)
  const { won } = await race(startConnectionTest(ours.worker, { id }), startConnectionTest(ours.worker, { id }))
  expect(won.filter((row) => row !== null)).toHaveLength(1)
  for (const stage of ['RESOLVE', 'TCP'] as const)
    await recordPreflightStage(ours.worker, {
      id,
      stage: { stage, hop: null, state: 'OK', durationMs: 3, detail: 'SSH-2.0-\u0000x\u0007', hint: null },
    })
  const done = await finishConnectionTest(ours.worker, { id, isOk: true, error: null })
  expect(done).toMatchObject({
    isOk: true,
    stages: [{ stage: 'RESOLVE', detail: 'SSH-2.0-?x?' }, { stage: 'TCP' }],
    finishedAt: expect.any(Date),
  })
  expect(await finishConnectionTest(ours.worker, { id, isOk: false, error: 'x' })).toBeNull()
  await recordPreflightStage(ours.worker, {
    id,
    stage: { stage: 'SHELL', hop: null, state: 'OK', durationMs: 1, detail: null, hint: null },
  })
  const [row] = await t.runtime.db.select().from(connectionTests).where(eq(connectionTests.id, id))
  expect(row!.stages).toHaveLength(2)
})

describe('finishConnectionTest', () => {
  test('the first success makes the node READY and starts a discovery; the second does not', async () => {
    const node = await aNode(NEW)
    await finishConnectionTest(ours.worker, { id: (await aTest(node)).id, isOk: true, error: null })
    expect(await now(node.id)).toMatchObject({ status: 'READY', readyAt: expect.any(Date), lastSeenAt: expect.any(Date) })
    await finishConnectionTest(ours.worker, { id: (await aTest(node)).id, isOk: true, error: null })
    const rows = await t.runtime.db.select().from(discoveries).where(eq(discoveries.nodeId, node.id))
    expect(rows).toMatchObject([{ reason: 'onboarding', status: 'PENDING' }])
    expect(await queued('discovery')).toContain(rows[0]!.id)
  })

  test('failure makes it UNREACHABLE with the reason, and success READY again', async () => {
    const node = await aNode(NEW)
    await finishConnectionTest(ours.worker, { id: (await aTest(node)).id, isOk: false, error: 'port 22 is closed' })
    expect(await now(node.id)).toMatchObject({ status: 'UNREACHABLE', unreachableReason: 'port 22 is closed' })
    await finishConnectionTest(ours.worker, { id: (await aTest(node)).id, isOk: true, error: null })
    expect(await now(node.id)).toMatchObject({ status: 'READY', unreachableReason: null })
  })

  test('a node whose first key waits for approval stays NEW', async () => {
    const node = await aNode({ ...NEW, hostKey: null })
    const { id } = await aTest(node)
    await recordOfferedHostKey(ours.worker, { objectType: 'ComputeNode', objectId: node.id, key: makeHostKey() })
    await finishConnectionTest(ours.worker, { id, isOk: false, error: 'approve the host key' })
    expect(await now(node.id)).toMatchObject({ status: 'NEW' })
  })

  test('a node that waits for approval of a first key, its own or a bastion’s, is not unreachable', async () => {
    const node = await aNode({ ...NEW, hostKey: null })
    const fail = async (awaitsApproval?: boolean) => {
      await finishConnectionTest(ours.worker, {
        id: (await aTest(node)).id,
        isOk: false,
        error: 'e',
        ...(awaitsApproval && { awaitsApproval }),
      })
      return (await now(node.id)).status
    }
    expect(await fail()).toBe('UNREACHABLE')
    expect(await fail(true)).toBe('NEW')
    expect(await fail()).toBe('UNREACHABLE')
    await recordOfferedHostKey(ours.worker, { objectType: 'ComputeNode', objectId: node.id, key: makeHostKey() })
    expect(await fail()).toBe('NEW')
  })

  test('success without an approved key, or with a changed one, does not make a node READY', async () => {
    const bare = await aNode({ ...NEW, hostKey: null })
    await finishConnectionTest(ours.worker, { id: (await aTest(bare)).id, isOk: true, error: null })
    expect(await now(bare.id)).toMatchObject({ status: 'NEW' })
    const changed = await aNode({ offeredHostKey: makeHostKey(), unreachableSince: new Date(), unreachableReason: 'key' })
    await finishConnectionTest(ours.worker, { id: (await aTest(changed)).id, isOk: true, error: null })
    expect(await now(changed.id)).toMatchObject({ status: 'UNREACHABLE', unreachableReason: 'key' })
  })

  test('ignores a result from before the address changed', async () => {
    const node = await aNode(NEW)
    const { id } = await aTest(node)
    await updateNode(ours.operator, { id: node.id, host: 'elsewhere' })
    await finishConnectionTest(ours.worker, { id, isOk: true, error: null })
    expect(await now(node.id)).toMatchObject({ status: 'NEW' })
  })
})

test('failStalledWork ends abandoned work of every tenant, and nothing else', async () => {
  const other = await t.given.tenant()
  const [theirs] = await t.given.fleet(other.operator, { prefix: 'stuck' })
  const [stuck, fresh] = [await aNode(), await aNode()]
  const old = await aTest(stuck)
  const running = await aTest(fresh)
  const [looking] = await discoverNodes(other.operator, { nodeIds: [theirs!.id] })
  await startConnectionTest(ours.worker, { id: old.id })
  await startConnectionTest(ours.worker, { id: running.id })
  await startDiscovery(other.worker, { id: looking!.id })
  const past = new Date(Date.now() - 10 * 60_000)
  await t.runtime.db.update(connectionTests).set({ startedAt: past }).where(eq(connectionTests.id, old.id))
  await t.runtime.db.update(discoveries).set({ startedAt: past }).where(eq(discoveries.id, looking!.id))
  expect(await failStalledWork(t.runtime)).toBe(2)
  expect(await failStalledWork(t.runtime)).toBe(0)
  expect(await t.runtime.db.select().from(connectionTests).where(eq(connectionTests.id, old.id))).toMatchObject([
    { isOk: false, error: expect.stringContaining('worker was lost') },
  ])
  expect(await t.runtime.db.select().from(discoveries).where(eq(discoveries.id, looking!.id))).toMatchObject([
    { status: 'FAILED' },
  ])
  expect(await t.runtime.db.select().from(connectionTests).where(eq(connectionTests.id, running.id))).toMatchObject([
    { finishedAt: null },
  ])
  expect(t.changeEvents).toContainEqual({ topic: 'discovery', id: looking!.id, tenantId: other.tenant.id })
})

describe('testCredential', () => {
  const resultOf = async (id: string) => (await t.runtime.db.select().from(credentials).where(eq(credentials.id, id)))[0]!
  const stage = (name: 'AUTHENTICATION' | 'SUDO', state: 'OK' | 'FAILED', hop: string | null = null) => ({
    stage: name,
    hop,
    state,
    durationMs: 1,
    detail: `${name} said`,
    hint: state === 'OK' ? null : 'do this',
  })
  const walk = async (test: { id: string }, stages: ReturnType<typeof stage>[], isOk: boolean, error: string | null = null) => {
    for (const each of stages) await recordPreflightStage(ours.worker, { id: test.id, stage: each })
    return finishConnectionTest(ours.worker, { id: test.id, isOk, error })
  }

  test('records the result on each credential and does not change the node', async () => {
    const own = await t.given.credential(ours.admin, 'SSH_KEY')
    const other = await t.given.credential(ours.admin, 'SSH_PASSWORD')
    const become = await t.given.credential(ours.admin, 'BECOME')
    const node = await aNode({ credentialId: own.id })
    const test = await testCredential(ours.admin, { id: other.id, nodeId: node.id })
    expect(test).toMatchObject({ nodeId: node.id, credentialId: other.id })
    expect(await queued('connection-test')).toContain(test.id)
    const before = await now(node.id)
    await walk(test, [stage('AUTHENTICATION', 'FAILED')], false, 'rejected')
    expect(await resultOf(other.id)).toMatchObject({ lastResultError: 'AUTHENTICATION said do this' })
    expect(await resultOf(own.id)).toMatchObject({ lastResultAt: null })

    // A failed sudo does not fail the test of a node, but it fails the test of its password.
    const sudo = await testCredential(ours.admin, { id: become.id, nodeId: node.id })
    const ended = await walk(sudo, [stage('AUTHENTICATION', 'OK'), stage('SUDO', 'FAILED')], true)
    expect(ended).toMatchObject({ isOk: false, error: 'SUDO said do this' })
    expect(await resultOf(become.id)).toMatchObject({ lastResultError: 'SUDO said do this' })
    expect(await resultOf(own.id)).toMatchObject({ lastResultAt: expect.any(Date), lastResultError: null })
    expect(await now(node.id)).toEqual(before)
  })

  test('records on a bastion the result of its own login, or why its secret is unavailable', async () => {
    const bastion = await t.given.credential(ours.admin, 'BASTION')
    const node = await aNode()
    const test = await testCredential(ours.operator, { id: bastion.id, nodeId: node.id })
    await walk(test, [stage('AUTHENTICATION', 'OK', bastion.name), stage('AUTHENTICATION', 'FAILED')], false, 'rejected')
    expect(await resultOf(bastion.id)).toMatchObject({ lastResultAt: expect.any(Date), lastResultError: null })
    await walk(await testCredential(ours.operator, { id: bastion.id, nodeId: node.id }), [], false, 'does not open')
    expect(await resultOf(bastion.id)).toMatchObject({ lastResultError: 'does not open' })
  })

  test('requires credential:use for a password, and a node among its allowed hosts', async () => {
    const password = await t.given.credential(ours.admin, 'SSH_PASSWORD', { allowedHosts: ['192.0.2.0/24'] })
    const inside = await aNode({ host: '192.0.2.7' })
    const outside = await aNode({ host: '198.51.100.7' })
    await expect(testCredential(ours.operator, { id: password.id, nodeId: inside.id })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('credential:use'),
    })
    await expect(testCredential(ours.admin, { id: password.id, nodeId: outside.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('not sent to 198.51.100.7'),
    })
    expect(await testCredential(ours.admin, { id: password.id, nodeId: inside.id })).toMatchObject({ nodeId: inside.id })
  })

  test('rejects nodes that are local, not approved, or of another tenant', async () => {
    const { id } = await t.given.credential(ours.admin, 'SSH_KEY')
    for (const fields of [{ connectionType: 'local' as const }, { hostKey: null }])
      await expect(testCredential(ours.operator, { id, nodeId: (await aNode(fields)).id })).rejects.toMatchObject({
        code: 'CONFLICT',
      })
    const { id: nodeId } = await aNode()
    const stranger = await t.given.tenant()
    await expect(testCredential(stranger.operator, { id, nodeId })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(testCredential(ours.viewer, { id, nodeId })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
