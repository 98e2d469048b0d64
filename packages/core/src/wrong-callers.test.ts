import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addMember, createApiToken, revokeApiToken } from './access/index.ts'
import {
  approveHostKeys,
  finishConnectionTest,
  recordOfferedHostKey,
  recordPreflightStage,
  startConnectionTest,
  testConnections,
} from './connections/index.ts'
import { createCredential, deleteCredential, updateCredential } from './credentials/index.ts'
import { discoverNodes, finishDiscovery, recordDiscoveryOfRun, startDiscovery } from './discoveries/index.ts'
import { createNodeGroup, deleteNodeGroup, setNodeGroupMembers, updateNodeGroup } from './groups/index.ts'
import type { Ctx } from './kernel/context.ts'
import { decommissionNode, decommissionNodes, setNodeMaintenance } from './node-states/index.ts'
import {
  addNode,
  addNodes,
  checkNodeImport,
  fingerprint,
  importNodes,
  purgeNode,
  recommissionNode,
  recordNodeSeen,
  recordNodeUnreachable,
  updateNode,
  updateNodes,
} from './nodes/index.ts'
import {
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  fireDueSchedules,
  runSchedule,
  updateSchedule,
} from './schedules/index.ts'
import { selectNodes } from './selection/index.ts'
import { makeHostKey, type TenantFixture } from './testing/factories.ts'
import { type TestRuntime, testRuntime } from './testing/runtime.ts'
import { createTrigger, deleteTrigger, rotateTriggerSecret, updateTrigger } from './triggers/index.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
/** Objects of the other tenant. */
let ids: Record<'node' | 'test' | 'discovery', string>
const offered = makeHostKey()

beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const [node] = await t.given.fleet(theirs.operator)
  const [connectionTest] = await testConnections(theirs.operator, { nodeIds: [node!.id] })
  const [discovery] = await discoverNodes(theirs.operator, { nodeIds: [node!.id] })
  ids = { node: node!.id, test: connectionTest!.id, discovery: discovery!.id }
})
afterAll(() => t.close())

const NOT_FOUND = { code: 'NOT_FOUND' }

describe('a worker of another tenant', () => {
  test('reports without effect', async () => {
    const { worker } = ours
    expect(await startConnectionTest(worker, { id: ids.test })).toBeNull()
    expect(await finishConnectionTest(worker, { id: ids.test, isOk: true, error: null })).toBeNull()
    expect(await startDiscovery(worker, { id: ids.discovery })).toBeNull()
    expect(await finishDiscovery(worker, { id: ids.discovery, error: 'x', durationMs: 1 })).toBeNull()
    await recordNodeUnreachable(worker, { nodeId: ids.node, reason: 'x' })
    const [before] = await selectNodes(theirs.viewer, [ids.node])
    await recordNodeSeen(worker, { nodeIds: [ids.node] })
    await expect(
      recordOfferedHostKey(worker, { objectType: 'ComputeNode', objectId: ids.node, key: offered }),
    ).rejects.toMatchObject(NOT_FOUND)
    await expect(recordDiscoveryOfRun(worker, { nodeId: ids.node, evidence: Buffer.from('') })).rejects.toMatchObject(NOT_FOUND)
    expect(await selectNodes(theirs.viewer, [ids.node])).toEqual([before])
    expect(before!.status).toBe('READY')
  })
})

const id = '019a0000-0000-7000-8000-000000000000'
/** Every verb with the strongest role that may not call it. */
const FORBIDDEN: [string, 'viewer' | 'operator' | 'owner', (ctx: Ctx) => Promise<unknown>][] = [
  ['addNode', 'viewer', (ctx) => addNode(ctx, { name: 'a', host: 'a' })],
  ['addNode on the worker itself', 'operator', (ctx) => addNode(ctx, { name: 'a', host: 'a', connectionType: 'local' })],
  ['addNodes', 'viewer', (ctx) => addNodes(ctx, { nodes: [{ name: 'a', host: 'a' }] })],
  [
    'addNodes on the worker itself',
    'operator',
    (ctx) => addNodes(ctx, { nodes: [{ name: 'a', host: 'a', connectionType: 'local' }] }),
  ],
  ['updateNodes', 'viewer', (ctx) => updateNodes(ctx, { nodes: [{ id }] })],
  ['updateNodes to the worker itself', 'operator', (ctx) => updateNodes(ctx, { nodes: [{ id, connectionType: 'local' }] })],
  ['updateNode', 'viewer', (ctx) => updateNode(ctx, { id })],
  ['updateNode to the worker itself', 'operator', (ctx) => updateNode(ctx, { id, connectionType: 'local' })],
  ['checkNodeImport', 'viewer', (ctx) => checkNodeImport(ctx, { format: 'LIST', text: 'a' })],
  ['importNodes', 'viewer', (ctx) => importNodes(ctx, { format: 'LIST', text: 'a' })],
  [
    'importNodes on the worker',
    'operator',
    (ctx) => importNodes(ctx, { format: 'LIST', text: 'a', defaults: { connectionType: 'local' } }),
  ],
  ['setNodeMaintenance', 'viewer', (ctx) => setNodeMaintenance(ctx, { id, isOn: true })],
  ['decommissionNode', 'viewer', (ctx) => decommissionNode(ctx, { id })],
  ['decommissionNodes', 'viewer', (ctx) => decommissionNodes(ctx, { ids: [id] })],
  ['recommissionNode', 'viewer', (ctx) => recommissionNode(ctx, { id })],
  ['purgeNode', 'operator', (ctx) => purgeNode(ctx, { id })],
  ['testConnections', 'viewer', (ctx) => testConnections(ctx, { nodeIds: [id] })],
  ['discoverNodes', 'viewer', (ctx) => discoverNodes(ctx)],
  [
    'approveHostKeys',
    'operator',
    (ctx) => approveHostKeys(ctx, { approvals: [{ objectType: 'ComputeNode', id, fingerprint: fingerprint(offered) }] }),
  ],
  ['createCredential', 'operator', (ctx) => createCredential(ctx, { name: 'a', kind: 'BECOME', password: 'pass' })],
  ['updateCredential', 'operator', (ctx) => updateCredential(ctx, { id })],
  ['deleteCredential', 'operator', (ctx) => deleteCredential(ctx, { id })],
  ['createNodeGroup', 'viewer', (ctx) => createNodeGroup(ctx, { name: 'a' })],
  ['deleteNodeGroup', 'viewer', (ctx) => deleteNodeGroup(ctx, { id })],
  ['setNodeGroupMembers', 'viewer', (ctx) => setNodeGroupMembers(ctx, { id })],
  ['updateNodeGroup', 'viewer', (ctx) => updateNodeGroup(ctx, { id })],
  ['createSchedule', 'viewer', (ctx) => createSchedule(ctx, { name: 'a', target: 'discovery', limit: 'all', rule: '@daily' })],
  ['updateSchedule', 'viewer', (ctx) => updateSchedule(ctx, { id })],
  ['enableSchedule', 'viewer', (ctx) => enableSchedule(ctx, { id })],
  ['disableSchedule', 'viewer', (ctx) => disableSchedule(ctx, { id })],
  ['deleteSchedule', 'viewer', (ctx) => deleteSchedule(ctx, { id })],
  ['runSchedule', 'viewer', (ctx) => runSchedule(ctx, { id })],
  ['createTrigger', 'viewer', (ctx) => createTrigger(ctx, { name: 'a', template: 'b', limit: 'all' })],
  ['updateTrigger', 'viewer', (ctx) => updateTrigger(ctx, { id, isEnabled: false })],
  ['rotateTriggerSecret', 'viewer', (ctx) => rotateTriggerSecret(ctx, { id })],
  ['deleteTrigger', 'viewer', (ctx) => deleteTrigger(ctx, { id })],
  ['fireDueSchedules', 'owner', (ctx) => fireDueSchedules(ctx)],
  ['createApiToken', 'viewer', (ctx) => createApiToken(ctx, { name: 'a', role: 'viewer' })],
  ['createApiToken above oneself', 'operator', (ctx) => createApiToken(ctx, { name: 'a', role: 'admin' })],
  ['revokeApiToken', 'viewer', (ctx) => revokeApiToken(ctx, { id })],
  ['addMember', 'operator', (ctx) => addMember(ctx, { userId: id, role: 'viewer' })],
  ['startConnectionTest', 'owner', (ctx) => startConnectionTest(ctx, { id })],
  ['finishConnectionTest', 'owner', (ctx) => finishConnectionTest(ctx, { id, isOk: true, error: null })],
  [
    'recordPreflightStage',
    'owner',
    (ctx) =>
      recordPreflightStage(ctx, { id, stage: { stage: 'TCP', hop: null, state: 'OK', durationMs: 1, detail: null, hint: null } }),
  ],
  ['startDiscovery', 'owner', (ctx) => startDiscovery(ctx, { id })],
  ['finishDiscovery', 'owner', (ctx) => finishDiscovery(ctx, { id, durationMs: 1 })],
  ['recordDiscoveryOfRun', 'owner', (ctx) => recordDiscoveryOfRun(ctx, { nodeId: id, evidence: Buffer.from('') })],
  [
    'recordOfferedHostKey',
    'owner',
    (ctx) => recordOfferedHostKey(ctx, { objectType: 'ComputeNode', objectId: id, key: offered }),
  ],
  ['recordNodeSeen', 'owner', (ctx) => recordNodeSeen(ctx, { nodeIds: [id] })],
  ['recordNodeUnreachable', 'owner', (ctx) => recordNodeUnreachable(ctx, { nodeId: id, reason: 'x' })],
]

describe('the wrong role is rejected', () => {
  test.each(FORBIDDEN)('%s by a %s', async (_name, role, call) => {
    await expect(call(ours[role])).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
