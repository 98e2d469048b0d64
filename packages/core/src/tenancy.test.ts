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
import {
  addNode,
  checkNodeImport,
  decommissionNode,
  fingerprint,
  importNodes,
  purgeNode,
  recommissionNode,
  recordNodeSeen,
  recordNodeUnreachable,
  setNodeMaintenance,
  updateNode,
} from './nodes/index.ts'
import { selectNodes } from './selection/index.ts'
import { makeHostKey, type TenantFixture } from './testing/factories.ts'
import { type TestRuntime, testRuntime } from './testing/runtime.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
/** Objects of the other tenant. */
let ids: Record<'node' | 'retired' | 'key' | 'become' | 'bastion' | 'group' | 'token' | 'test' | 'discovery' | 'user', string>
const offered = makeHostKey()

beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const [node, retired] = await t.given.fleet(theirs.operator, { nodes: 2 })
  await decommissionNode(theirs.operator, { id: retired!.id })
  await recordOfferedHostKey(theirs.worker, { objectType: 'ComputeNode', objectId: retired!.id, key: offered })
  const { apiToken } = await createApiToken(theirs.operator, { name: 't', role: 'viewer' })
  const [connectionTest] = await testConnections(theirs.operator, { nodeIds: [node!.id] })
  const [discovery] = await discoverNodes(theirs.operator, { nodeIds: [node!.id] })
  ids = {
    node: node!.id,
    retired: retired!.id,
    key: (await t.given.credential(theirs.admin, 'SSH_KEY')).id,
    become: (await t.given.credential(theirs.admin, 'BECOME')).id,
    bastion: (await t.given.credential(theirs.admin, 'BASTION')).id,
    group: (await createNodeGroup(theirs.operator, { name: 'theirs' })).id,
    token: apiToken.id,
    test: connectionTest!.id,
    discovery: discovery!.id,
    user: theirs.viewer.actor.id!,
  }
})
afterAll(() => t.close())

const NOT_FOUND = { code: 'NOT_FOUND' }
const at = (path: string) => ({ code: 'INVALID_INPUT', issues: [{ path }] })

type Case = [string, (ctx: Ctx) => Promise<unknown>, object]
/** Every verb that names an object, called by us with an id of theirs. */
const FOREIGN: Case[] = [
  ['updateNode', (ctx) => updateNode(ctx, { id: ids.node, notes: 'x' }), NOT_FOUND],
  ['setNodeMaintenance', (ctx) => setNodeMaintenance(ctx, { id: ids.node, isOn: true }), NOT_FOUND],
  ['decommissionNode', (ctx) => decommissionNode(ctx, { id: ids.node }), NOT_FOUND],
  ['recommissionNode', (ctx) => recommissionNode(ctx, { id: ids.retired }), NOT_FOUND],
  ['purgeNode', (ctx) => purgeNode(ctx, { id: ids.retired }), NOT_FOUND],
  ['testConnections', (ctx) => testConnections(ctx, { nodeIds: [ids.node] }), NOT_FOUND],
  ['discoverNodes', (ctx) => discoverNodes(ctx, { nodeIds: [ids.node] }), NOT_FOUND],
  [
    'approveHostKeys',
    (ctx) =>
      approveHostKeys(ctx, { approvals: [{ objectType: 'ComputeNode', id: ids.retired, fingerprint: fingerprint(offered) }] }),
    NOT_FOUND,
  ],
  ['selectNodes by id', (ctx) => selectNodes(ctx, [ids.node]), NOT_FOUND],
  ['selectNodes by name', (ctx) => selectNodes(ctx, 'gpu001'), at('limit')],
  ['selectNodes by group', (ctx) => selectNodes(ctx, '@theirs'), at('limit')],
  ['addNode with a credential', (ctx) => addNode(ctx, { name: 'a', host: 'a', credentialId: ids.key }), at('credentialId')],
  [
    'addNode with become',
    (ctx) => addNode(ctx, { name: 'a', host: 'a', becomeCredentialId: ids.become }),
    at('becomeCredentialId'),
  ],
  ['addNode with a bastion', (ctx) => addNode(ctx, { name: 'a', host: 'a', bastionId: ids.bastion }), at('bastionId')],
  [
    'importNodes with defaults',
    (ctx) => importNodes(ctx, { format: 'LIST', text: 'a', defaults: { credentialId: ids.key } }),
    at('defaults.credentialId'),
  ],
  ['updateCredential', (ctx) => updateCredential(ctx, { id: ids.key, name: 'x' }), NOT_FOUND],
  ['deleteCredential', (ctx) => deleteCredential(ctx, { id: ids.key }), NOT_FOUND],
  [
    'createCredential behind a bastion',
    (ctx) =>
      createCredential(ctx, { name: 'b', kind: 'BASTION', host: 'b', username: 'u', password: 'pass', viaId: ids.bastion }),
    at('viaId'),
  ],
  ['deleteNodeGroup', (ctx) => deleteNodeGroup(ctx, { id: ids.group }), NOT_FOUND],
  ['setNodeGroupMembers', (ctx) => setNodeGroupMembers(ctx, { id: ids.group, addNodeIds: [] }), NOT_FOUND],
  ['updateNodeGroup', (ctx) => updateNodeGroup(ctx, { id: ids.group, priority: 1 }), NOT_FOUND],
  ['createNodeGroup below', (ctx) => createNodeGroup(ctx, { name: 'below', parentId: ids.group }), at('parentId')],
  ['revokeApiToken', (ctx) => revokeApiToken(ctx, { id: ids.token }), NOT_FOUND],
]

describe('an object of another tenant does not exist', () => {
  test.each(FOREIGN)('%s', async (_name, call, error) => {
    await expect(call(ours.owner)).rejects.toMatchObject(error)
  })

  test('setNodeGroupMembers with a node', async () => {
    const group = await createNodeGroup(ours.operator, { name: 'ours' })
    await expect(setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: [ids.node] })).rejects.toMatchObject(
      at('addNodeIds.0'),
    )
  })

  test('updateNode with a credential', async () => {
    const [node] = await t.given.fleet(ours.operator, { prefix: 'own' })
    await expect(updateNode(ours.operator, { id: node!.id, bastionId: ids.bastion })).rejects.toMatchObject(at('bastionId'))
  })

  test('what a worker reports of it has no effect', async () => {
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
