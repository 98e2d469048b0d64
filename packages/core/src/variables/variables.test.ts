import { eq, inArray } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { decryptSecretVars } from '../credentials/decrypt-secret-vars.ts'
import { recordVersion } from '../credentials/encryption.ts'
import { openVault, reencryptCredentials } from '../credentials/index.ts'
import { createNodeGroup, setNodeGroupMembers } from '../groups/index.ts'
import { nodeGroups } from '../groups/tables.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { fastDeriveKey, TEST_MASTER_PASSWORD } from '../testing/master-password.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { compareVars } from './compare-vars.ts'
import { effectiveVars } from './effective-vars.ts'
import { restoreVars } from './restore-vars.ts'
import { setSecretVar } from './set-secret-var.ts'
import { setVarMerge } from './set-var-merge.ts'
import { setVars } from './set-vars.ts'
import { variableSecrets, variableVersions } from './tables.ts'
import { unsetSecretVar } from './unset-secret-var.ts'
import { varsImpact } from './vars-impact.ts'

let t: TestRuntime
let ours: TenantFixture
let nodes: ComputeNode[]
let groups: Record<'rack' | 'amd' | 'prod', string>

/** `rack` is the parent of `amd` (10) and `prod` (20). The first node is in both, the second in prod. */
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  nodes = await t.given.fleet(ours.operator, { nodes: 3 })
  const make = async (name: string, priority: number, members: ComputeNode[]) => {
    const { id } = await createNodeGroup(ours.operator, { name, priority })
    await setNodeGroupMembers(ours.operator, { id, addNodeIds: members.map((node) => node.id) })
    return id
  }
  groups = {
    rack: await make('rack', 1, []),
    amd: await make('amd', 10, [nodes[0]!]),
    prod: await make('prod', 20, [nodes[0]!, nodes[1]!]),
  }
  await t.runtime.db
    .update(nodeGroups)
    .set({ parentId: groups.rack })
    .where(inArray(nodeGroups.id, [groups.prod, groups.amd]))
})
afterAll(() => t.close())

const varOf = async (node: ComputeNode, name: string) =>
  (await effectiveVars(ours.operator, [node.id])).get(node.id)!.find((each) => each.name === name)

test('the nearest layer wins: all nodes, parent group, group, lower priority number, node, run; lists overridden values in order', async () => {
  const [a] = nodes
  const set = (ref: object, text: string) => setVars(ours.operator, { ...ref, text, basedOn: 0 })
  await set({}, 'ntp: global # for all\nonly: here')
  await set({ groupId: groups.rack }, 'ntp: rack')
  await set({ groupId: groups.prod }, 'ntp: prod')
  await set({ groupId: groups.amd }, 'ntp: amd')
  await set({ nodeId: a!.id }, '{"ntp": "node"}')
  const run = { vars: { ntp: 'run' } }
  const ntp = (await effectiveVars(ours.operator, [a!.id], run)).get(a!.id)!.find((each) => each.name === 'ntp')
  expect(ntp).toMatchObject({ value: 'run', layer: 'run', group: null })
  expect(ntp!.overridden.map(({ value, layer, group }) => [value, layer, group])).toEqual([
    ['node', 'node', null],
    ['amd', 'group', 'amd'],
    ['prod', 'group', 'prod'],
    ['rack', 'group', 'rack'],
    ['global', 'global', null],
  ])
  expect(await varOf(nodes[1]!, 'ntp')).toMatchObject({ value: 'prod', layer: 'group', group: 'prod' })
  expect(await varOf(nodes[2]!, 'ntp')).toMatchObject({ value: 'global', layer: 'global', overridden: [] })
  expect(await varOf(nodes[2]!, 'only')).toMatchObject({ value: 'here' })
})

test('a dictionary replaces the lower one, or merges with it if the tenant enables that', async () => {
  const { operator, admin } = await t.given.tenant()
  const [node] = await t.given.fleet(operator)
  await setVars(operator, { text: 'net: {mtu: 1500, dns: {a: 1, b: [1, 2]}}', basedOn: 0 })
  await setVars(operator, { nodeId: node!.id, text: 'net: {dns: {b: [3]}}', basedOn: 0 })
  const net = async () => (await effectiveVars(operator, [node!.id])).get(node!.id)![0]!.value
  expect(await net()).toEqual({ dns: { b: [3] } })
  await expect(setVarMerge(operator, { merge: 'deep' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await setVarMerge(admin, { merge: 'deep' })
  expect(await net()).toEqual({ mtu: 1500, dns: { a: 1, b: [3] } })
})

test('of two edits of one version, one wins and the other names the winner', async () => {
  const { operator, admin } = await t.given.tenant()
  const first = await setVars(operator, { text: 'a: 1', basedOn: 0 })
  expect(first).toMatchObject({ version: 1, source: 'a: 1', vars: { a: 1 } })
  const { won, lost } = await race(
    setVars(admin, { text: 'a: 2', basedOn: 1 }),
    setVars(admin, { text: 'a: 3', basedOn: 1 }),
    setVars(admin, { text: 'a: 4', basedOn: 1 }),
  )
  expect([won.length, lost.length]).toEqual([1, 2])
  for (const error of lost)
    expect(error.message).toMatch(
      /^admin of .* changed the variables of all nodes at .*Z: they are at version 2, your change is based on 1\b/,
    )
  await expect(setVars(operator, { text: 'b: 1', basedOn: 0 })).rejects.toThrow('at version 2, your change is based on 0')
  await expect(setVars(operator, { text: 'b: 1', basedOn: 7 })).rejects.toThrow('at version 2, your change is based on 7')
})

test('rejects viewers and other tenants', async () => {
  const stranger = await t.given.tenant()
  const ref = { nodeId: nodes[0]!.id }
  await expect(setVars(ours.viewer, { text: '', basedOn: 0 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(setVars(stranger.owner, { ...ref, text: '', basedOn: 0 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(setVars(stranger.owner, { groupId: groups.amd, text: '', basedOn: 0 })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  await expect(varsImpact(stranger.owner, { ...ref, text: 'a: 1' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(compareVars(stranger.owner, { left: nodes[0]!.id, right: nodes[1]!.id })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  expect(await effectiveVars(stranger.owner, [nodes[0]!.id])).toEqual(new Map())
  await expect(setVars(ours.operator, { ...ref, groupId: groups.amd, text: '', basedOn: 0 })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  })
})

test('only admins set and remove Ansible’s own variables; others may edit the rest', async () => {
  const { operator, admin } = await t.given.tenant()
  const text = 'ansible_python_interpreter: /usr/bin/python3.12'
  await expect(setVars(operator, { text, basedOn: 0 })).rejects.toThrow(/ansible_python_interpreter.*vars:write_reserved/)
  await setVars(admin, { text, basedOn: 0 })
  await setVars(operator, { text: `${text}\na: 1`, basedOn: 1 })
  await expect(setVars(operator, { text: 'a: 1', basedOn: 2 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await setVars(admin, { text: 'a: 1', basedOn: 2 })
  await expect(restoreVars(operator, { version: 1 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('stores every version with author, reason and changes, and restores it with its secrets', async () => {
  const { operator, worker } = await t.given.tenant()
  await setVars(operator, { text: 'a: 1 # one', basedOn: 0, reason: 'to begin' })
  await setSecretVar(operator, { name: 'token', value: 'first secret' })
  await setSecretVar(operator, { name: 'token', value: 'second secret' })
  const unset = await unsetSecretVar(operator, { name: 'token' })
  expect(unset).toMatchObject({ version: 4, source: 'a: 1 # one', secrets: {} })
  const restored = await restoreVars(operator, { version: 2 })
  expect(restored).toMatchObject({ version: 5, vars: { a: 1 }, secrets: { token: expect.any(String) } })
  const [secret] = await t.runtime.db.select().from(variableSecrets).where(eq(variableSecrets.id, restored.secrets.token!))
  const context = { tenantId: operator.tenantId, objectId: secret!.id, field: 'value' }
  expect(await worker.vault.open(context, secret!.encrypted.value)).toBe('first secret')
  const versions = await t.runtime.db
    .select()
    .from(variableVersions)
    .where(eq(variableVersions.scopeId, restored.id))
    .orderBy(variableVersions.version)
  expect(versions.map((each) => [each.version, each.reason, Object.keys(each.secrets)])).toEqual([
    [1, 'to begin', []],
    [2, null, ['token']],
    [3, null, ['token']],
    [4, null, []],
    [5, 'Restored version 2.', ['token']],
  ])
  const audits = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, restored.id))
  expect(audits.map((each) => [each.action, each.details])).toContainEqual([
    'vars.set_secret',
    { version: 3, changed: ['token'] },
  ])
  expect(JSON.stringify([versions, audits, secret])).not.toMatch(/first secret|second secret/)
  await expect(restoreVars(operator, { version: 9 })).rejects.toThrow('have no version 9; the newest is 5')
})

test('a key rotation re-encrypts secret variables of all versions', async () => {
  const { operator, worker } = await t.given.tenant()
  await setSecretVar(operator, { name: 'token', value: 'first secret' })
  await setSecretVar(operator, { name: 'token', value: 'second secret' })
  const vault = await openVault(t.runtime.db, TEST_MASTER_PASSWORD, 2, fastDeriveKey)
  await reencryptCredentials({ ...worker, vault })
  const rows = await t.runtime.db.select().from(variableSecrets).where(eq(variableSecrets.tenantId, operator.tenantId))
  expect(rows.map((row) => recordVersion(row.encrypted.value))).toEqual([2, 2])
  const opened = await decryptSecretVars(
    { ...worker, vault },
    rows.map((row) => row.id),
  )
  expect([...opened.values()].sort()).toEqual(['first secret', 'second secret'])
  await expect(decryptSecretVars(operator, [rows[0]!.id])).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const stranger = await t.given.tenant()
  expect(await decryptSecretVars({ ...stranger.worker, vault }, [rows[0]!.id])).toEqual(new Map())
})

test('rejects a name that is both text and secret, and a short secret', async () => {
  const { operator, viewer } = await t.given.tenant()
  await setSecretVar(operator, { name: 'token', value: 'a secret value' })
  await expect(setVars(operator, { text: 'token: open', basedOn: 1 })).rejects.toThrow('token is a secret variable of all nodes')
  await setVars(operator, { text: 'open: 1', basedOn: 1 })
  await expect(setSecretVar(operator, { name: 'open', value: 'long enough' })).rejects.toThrow(
    'is already a plain variable of all nodes',
  )
  await expect(setSecretVar(operator, { name: 'x', value: 'abc' })).rejects.toThrow('at least 4 characters')
  await expect(setSecretVar(operator, { name: 'ansible_become_password', value: 'abcdef' })).rejects.toMatchObject({
    issues: [{ path: 'name' }],
  })
  await expect(setSecretVar(viewer, { name: 'x', value: 'abcdef' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(unsetSecretVar(operator, { name: 'open' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('compareVars compares two nodes', async () => {
  const { operator } = await t.given.tenant()
  const [a, b] = await t.given.fleet(operator, { nodes: 2 })
  await setVars(operator, { text: 'same: 1\nleft: 1', basedOn: 0 })
  await setVars(operator, { nodeId: a!.id, text: 'same: 1\nmine: {x: 1}', basedOn: 0 })
  await setVars(operator, { nodeId: b!.id, text: 'left: 2', basedOn: 0 })
  const rows = await compareVars(operator, { left: a!.id, right: b!.id })
  expect(rows.map(({ name, left, right, isSame }) => [name, left?.value, right?.value, isSame])).toEqual([
    ['left', 1, 2, false],
    ['mine', { x: 1 }, undefined, false],
    ['same', 1, 1, true],
  ])
})

test('varsImpact shows which nodes an edit would change, without saving it', async () => {
  const text = 'ntp: other\nfresh: 1'
  const impact = await varsImpact(ours.viewer, { groupId: groups.prod, text })
  // Both nodes are in prod; the first has its own ntp.
  expect([impact.nodes, impact.changed]).toEqual([2, 2])
  expect(impact.vars.map(({ name, nodes: count }) => [name, count])).toEqual([
    ['fresh', 2],
    ['ntp', 1],
  ])
  expect(impact.vars[1]!.examples).toMatchObject([
    { node: nodes[1]!.name, before: { value: 'prod' }, after: { value: 'other', group: 'prod' } },
  ])
  expect(await varsImpact(ours.viewer, { text: 'ntp: global\nonly: here' })).toEqual({ nodes: 3, changed: 0, vars: [] })
  expect(await varsImpact(ours.viewer, { text: 'ntp: global' })).toMatchObject({
    nodes: 3,
    changed: 3,
    vars: [{ name: 'only', examples: [{ after: null }, {}, {}] }],
  })
  await expect(varsImpact(ours.viewer, { text: 'a: [' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('varsImpact shows which nodes would get another secret value, without any value', async () => {
  const given = { name: 'impact_token', value: 'never to be seen' }
  await setSecretVar(ours.operator, { ...given, groupId: groups.prod })
  await setSecretVar(ours.operator, { ...given, nodeId: nodes[0]!.id })
  // Both nodes are in prod; the first has its own value.
  const changed = await varsImpact(ours.viewer, { groupId: groups.prod, secret: 'impact_token' })
  expect(changed).toMatchObject({ nodes: 2, changed: 1, vars: [{ name: 'impact_token', nodes: 1 }] })
  expect(changed.vars[0]!.examples).toMatchObject([{ node: nodes[1]!.name, before: { value: null }, after: { value: null } }])
  expect(await varsImpact(ours.viewer, { secret: 'impact_token' })).toMatchObject({
    nodes: 3,
    changed: 1,
    vars: [{ examples: [{ before: null, after: { value: null, layer: 'global' } }] }],
  })
  expect(JSON.stringify(changed)).not.toContain(given.value)
  for (const wrong of [{}, { text: 'a: 1', secret: 'b' }, { secret: 'not a name' }])
    await expect(varsImpact(ours.viewer, wrong)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
