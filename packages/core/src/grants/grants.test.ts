import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  changeMemberRole,
  createApiToken,
  createRole,
  createServiceAccount,
  deleteRole,
  findActorByToken,
  findMemberships,
  updateRole,
} from '../access/index.ts'
import { deregisterAgent, drainAgent, resetAgentSequence, resumeAgent } from '../agents/index.ts'
import { assignBootProfile, createBootProfile, unassignBootProfile } from '../boot-profiles/index.ts'
import { approveHostKeys, testConnections, testCredential } from '../connections/index.ts'
import { discoverNodes } from '../discoveries/index.ts'
import { createNodeGroup, setNodeGroupMembers, updateNodeGroup } from '../groups/index.ts'
import { tenantCtx } from '../kernel/context.ts'
import {
  actorRole,
  authorityOf,
  type Grant,
  grantablePermissions,
  perNodePermissions,
  rolePermissions,
} from '../kernel/permissions.ts'
import { decommissionNode, decommissionNodes, previewNodeState, setNodeMaintenance } from '../node-states/index.ts'
import {
  addNode,
  addNodes,
  computeNodes,
  fingerprint,
  importNodes,
  recommissionNode,
  setNodeBmc,
  updateNode,
  updateNodes,
} from '../nodes/index.ts'
import { cancelPowerRun, type PowerAction, previewPowerRun, readBmcs, startPowerRun } from '../power/index.ts'
import type { Ctx } from '../registry.ts'
import { cancelJobRun, previewRun, retryJobRun, runJob } from '../runs/index.ts'
import { jobRuns } from '../runs/tables.ts'
import { createSchedule } from '../schedules/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import { makeHostKey, type TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { createTrigger } from '../triggers/index.ts'
import { restoreVars, setSecretVar, setVars, unsetSecretVar } from '../variables/index.ts'
import { createGrant } from './create-grant.ts'
import { deleteGrant } from './delete-grant.ts'

const FORBIDDEN = { code: 'FORBIDDEN' }

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
/** Nodes by place: two in gpu_prod, one in its subgroup by query, two outside. */
let nodes: Record<'a' | 'b' | 'sub' | 'x' | 'y', { id: string; name: string }>
let groups: Record<'prod' | 'sub' | 'other', { id: string; name: string }>
let keys: Record<'ours' | 'foreign' | 'bastion', { id: string; name: string }>
let template: { id: string }
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const { admin } = ours
  keys = {
    ours: await t.given.credential(admin, 'SSH_KEY', { name: 'prod key' }),
    foreign: await t.given.credential(admin, 'SSH_KEY', { name: 'foreign key' }),
    bastion: await t.given.credential(admin, 'BASTION', { name: 'bastion' }),
  }
  const [a, b, sub, x, y] = await t.given.fleet(admin, {
    nodes: 5,
    with: (i) => ({ credentialId: keys.ours.id, labels: (i === 2 ? { tier: 'sub' } : {}) as Record<string, string> }),
  })
  nodes = { a: a!, b: b!, sub: sub!, x: x!, y: y! }
  const prod = await createNodeGroup(admin, { name: 'gpu_prod' })
  groups = {
    prod,
    sub: await createNodeGroup(admin, { name: 'gpu_prod_sub', parentId: prod.id, memberQuery: 'label.tier = sub' }),
    other: await createNodeGroup(admin, { name: 'other' }),
  }
  await setNodeGroupMembers(admin, { id: prod.id, addNodeIds: [a!.id, b!.id] })
  await setNodeGroupMembers(admin, { id: groups.other.id, addNodeIds: [x!.id] })
  template = (await t.runtime.db.query.jobTemplates.findFirst({
    where: { tenantId: ours.tenant.id, name: 'connectivity_check' },
  }))!
})
afterAll(() => t.close())

const withAuthority = (authority: ReturnType<typeof authorityOf>): Ctx =>
  tenantCtx(t.runtime, ours.tenant.id, { kind: 'user', id: ours.viewer.actor.id!, name: 'granted', ...authority })
/** A viewer with a grant of all that grants can give. */
const granted = (grant: Partial<Grant> = {}, role = 'viewer'): Ctx =>
  withAuthority({
    ...actorRole(role),
    grants: [
      {
        permissions: perNodePermissions(),
        groupIds: [groups.prod.id],
        templateIds: null,
        credentialIds: null,
        cluster: null,
        ...grant,
      },
    ],
  })
const start = (ctx: Ctx, nodeIds: string[]) => runJob(ctx, { template: 'connectivity_check', nodeIds })
const memberOf = async (ctx: Ctx) =>
  (await t.runtime.db.query.members.findFirst({ where: { tenantId: ctx.tenantId, userId: ctx.actor.id! } }))!
/** The member as the API would see it now. */
const current = async (ctx: Ctx): Promise<Ctx> => {
  const memberships = await findMemberships(t.runtime.db, ctx.actor.id!)
  const { authority } = memberships.find(({ tenantId }) => tenantId === ctx.tenantId)!
  return tenantCtx(t.runtime, ctx.tenantId, { kind: 'user', id: ctx.actor.id!, name: ctx.actor.name, ...authority })
}
const asToken = async (token: string): Promise<Ctx> => {
  const found = await findActorByToken(t.runtime.db, token, '192.0.2.1')
  return tenantCtx(t.runtime, found!.tenantId, found!.actor)
}

const oneNode = 'x'
/** Every verb that acts on nodes with a permission that a grant can give, by that permission. */
const VERBS: [permission: string, verb: string, call: (ctx: Ctx, id: string) => Promise<unknown>][] = [
  ['node:write', 'updateNode', (ctx, id) => updateNode(ctx, { id, notes: 'n' })],
  ['node:write', 'setNodeMaintenance', (ctx, id) => setNodeMaintenance(ctx, { id, isOn: false })],
  ['node:write', 'previewNodeState', (ctx, id) => previewNodeState(ctx, { nodeIds: [id], change: 'MAINTENANCE' })],
  ['node:write', 'decommissionNode', (ctx, id) => decommissionNode(ctx, { id })],
  ['node:write', 'decommissionNodes', (ctx, id) => decommissionNodes(ctx, { ids: [id] })],
  ['node:write', 'recommissionNode', (ctx, id) => recommissionNode(ctx, { id })],
  ['agent:write', 'drainAgent', (ctx, nodeId) => drainAgent(ctx, { nodeId, reason: 'r' })],
  ['agent:write', 'resumeAgent', (ctx, nodeId) => resumeAgent(ctx, { nodeId })],
  ['agent:write', 'deregisterAgent', (ctx, nodeId) => deregisterAgent(ctx, { nodeId })],
  ['agent:write', 'resetAgentSequence', (ctx, nodeId) => resetAgentSequence(ctx, { nodeId })],
  ['connection:test', 'testConnections', (ctx, id) => testConnections(ctx, { nodeIds: [id] })],
  ['connection:test', 'testCredential', (ctx, nodeId) => testCredential(ctx, { id: keys.ours.id, nodeId })],
  ['credential:use', 'testCredential of a password', (ctx, nodeId) => testPassword(ctx, nodeId)],
  ['node:write', 'updateNodes', (ctx, id) => updateNodes(ctx, { nodes: [{ id, notes: 'n' }] })],
  ['credential:use', 'updateNode with a password', (ctx, id) => attachPassword(ctx, id)],
  ['node:approve_host_key', 'approveHostKeys', (ctx, id) => approve(ctx, 'ComputeNode', id)],
  ['discovery:start', 'discoverNodes', (ctx, id) => discoverNodes(ctx, { nodeIds: [id] })],
  ['job_run:start', 'runJob', (ctx, id) => start(ctx, [id])],
  ['job_run:start', 'previewRun', (ctx, id) => previewRun(ctx, { template: 'connectivity_check', nodeIds: [id] })],
  ['job_run:start', 'retryJobRun', async (ctx, id) => retryJobRun(ctx, { id: await endedRun(id), nodeIds: [id] })],
  ['job_run:cancel', 'cancelJobRun', async (ctx, id) => cancelJobRun(ctx, { id: (await start(ours.owner, [id])).id })],
  ['vars:write', 'setVars', (ctx, nodeId) => setVars(ctx, { nodeId, text: 'a: 1', basedOn: 0 })],
  ['vars:write', 'restoreVars', (ctx, nodeId) => restoreVars(ctx, { nodeId, version: 1 })],
  ['vars:write', 'setSecretVar', (ctx, nodeId) => setSecretVar(ctx, { nodeId, name: 'pw', value: 'long enough' })],
  ['boot_profile:assign', 'assignBootProfile', async (ctx, id) => assignBootProfile(ctx, await bootProfile(id))],
  ['boot_profile:assign', 'unassignBootProfile', async (ctx, id) => unassignBootProfile(ctx, await bootProfile(id))],
  ['power:on', 'startPowerRun', async (ctx, id) => power(ctx, id, 'ON')],
  ['power:off', 'startPowerRun of a shutdown', async (ctx, id) => power(ctx, id, 'OFF')],
  ['power:force', 'startPowerRun of a cycle', async (ctx, id) => power(ctx, id, 'CYCLE')],
  ['power:boot', 'startPowerRun of a boot', async (ctx, id) => power(ctx, id, 'BOOT_ONCE')],
  ['power:override', 'startPowerRun that is forced', async (ctx, id) => power(ctx, id, 'OFF', true)],
  ['power:on', 'previewPowerRun', async (ctx, id) => previewPowerRun(ctx, { action: 'ON', nodeIds: [id] })],
  ['power:on', 'cancelPowerRun', async (ctx, id) => cancelPowerRun(ctx, { id: (await power(ours.admin, id, 'ON')).id })],
  [
    'power:read',
    'readBmcs',
    async (ctx, id) => {
      await withBmc(id)
      return readBmcs(ctx, { nodeIds: [id] })
    },
  ],
  ['schedule:write', 'createSchedule', async (ctx, id) => createSchedule(ctx, await dailyRun(id))],
  ['schedule:write', 'createSchedule of a discovery', async (ctx, id) => createSchedule(ctx, await dailyDiscovery(id))],
  [
    'trigger:write',
    'createTrigger',
    (ctx, id) =>
      createTrigger(ctx, { name: `trigger ${crypto.randomUUID()}`, template: 'connectivity_check', limit: nameOf(id) }),
  ],
  ['vars:write', 'unsetSecretVar', (ctx, nodeId) => unsetSecretVar(ctx, { nodeId, name: 'pw' })],
]

const approve = (ctx: Ctx, objectType: 'ComputeNode' | 'Credential', id: string) =>
  approveHostKeys(ctx, { approvals: [{ objectType, id, fingerprint: fingerprint(makeHostKey()) }] })
const nameOf = (id: string) => Object.values(nodes).find((node) => node.id === id)!.name
const dailyRun = async (id: string) => ({ ...(await dailyDiscovery(id)), target: 'run' as const, template: 'connectivity_check' })
const dailyDiscovery = async (id: string) => ({
  name: `daily ${crypto.randomUUID()}`,
  target: 'discovery' as const,
  limit: nameOf(id),
  rule: '@daily',
})
const bootProfile = async (nodeId: string) => {
  const { id } = await createBootProfile(ours.admin, { name: `boot-${crypto.randomUUID()}` })
  return { profileId: id, nodeIds: [nodeId] }
}
let bmcs = 0
async function withBmc(nodeId: string) {
  const { id: credentialId } = await t.given.credential(ours.admin, 'BMC')
  await setNodeBmc(ours.admin, { nodeId, address: `10.8.0.${++bmcs}`, credentialId })
}
async function power(ctx: Ctx, id: string, action: PowerAction, force = false) {
  await withBmc(id)
  return startPowerRun(ctx, { action, nodeIds: [id], reason: 'r', force, bootDevice: action === 'BOOT_ONCE' ? 'PXE' : null })
}
const password = () => t.given.credential(ours.admin, 'SSH_PASSWORD', { allowedHosts: ['*'] })
const testPassword = async (ctx: Ctx, nodeId: string) => testCredential(ctx, { id: (await password()).id, nodeId })
const attachPassword = async (ctx: Ctx, id: string) => updateNode(ctx, { id, credentialId: (await password()).id })
async function endedRun(nodeId: string): Promise<string> {
  const { id } = await start(ours.owner, [nodeId])
  await cancelJobRun(ours.owner, { id })
  return id
}
/** Rejected for another reason than the caller's permissions. */
const isAllowed = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'allowed',
    (error: { code?: string; message: string }) => (error.code === 'FORBIDDEN' ? error.message : 'allowed'),
  )

describe('a permission that a grant can give', () => {
  test('has a verb in the table', () => {
    expect([...new Set(VERBS.map(([permission]) => permission))].sort()).toEqual([...perNodePermissions()].sort())
    expect(grantablePermissions().filter(({ isPerNode }) => isPerNode)).toHaveLength(perNodePermissions().size)
  })

  test.each(VERBS)('%s: %s is refused outside of the groups of the grant, and names them', async (permission, _verb, call) => {
    const others = new Set(['connection:test', 'node:write', 'node:approve_host_key', 'credential:use'])
    const ctx = granted({ permissions: perNodePermissions() })
    await expect(call(ctx, nodes[oneNode].id)).rejects.toMatchObject(FORBIDDEN)
    await expect(call(ctx, nodes[oneNode].id)).rejects.toThrow(/cover only the nodes of gpu_prod, not gpu004/)
    // Without the permission in the grant, the others do not help.
    const rest = new Set(
      [...perNodePermissions()].filter((name) => name !== permission && (permission !== 'credential:use' || others.has(name))),
    )
    await expect(call(granted({ permissions: rest }), nodes.a.id)).rejects.toMatchObject(FORBIDDEN)
  })

  test.each(VERBS)('%s: %s is allowed inside', async (_permission, _verb, call) => {
    expect(await isAllowed(call(granted(), nodes.b.id))).toBe('allowed')
    await t.runtime.db
      .update(computeNodes)
      .set({ decommissionedAt: null, credentialId: keys.ours.id })
      .where(eq(computeNodes.id, nodes.b.id))
  })
})

describe('nodes of a grant', () => {
  test('include those of subgroups and member queries, as they are now', async () => {
    expect(await isAllowed(start(granted(), [nodes.a.id, nodes.sub.id]))).toBe('allowed')
    expect(await isAllowed(start(granted({ groupIds: [groups.sub.id] }), [nodes.a.id]))).toMatch(
      /cover only the nodes of gpu_prod_sub/,
    )
    const late = granted()
    await setNodeGroupMembers(ours.admin, { id: groups.prod.id, addNodeIds: [nodes.y.id] })
    expect(await isAllowed(start(late, [nodes.y.id]))).toBe('allowed')
    await setNodeGroupMembers(ours.admin, { id: groups.prod.id, removeNodeIds: [nodes.y.id] })
    expect(await isAllowed(start(late, [nodes.y.id]))).toMatch(/not gpu005/)
  })

  test('are all or nothing, and a deleted group covers none', async () => {
    const before = await t.runtime.db.$count(jobRuns)
    const all = Object.values(nodes).map(({ id }) => id)
    expect(await isAllowed(start(granted(), all))).toMatch(/not gpu004, gpu005\. Choose other nodes/)
    expect(await t.runtime.db.$count(jobRuns)).toBe(before)
    expect(await isAllowed(start(granted({ groupIds: [crypto.randomUUID()] }), [nodes.a.id]))).toMatch(/a deleted group/)
    expect(await isAllowed(discoverNodes(granted()))).toMatch(/cover only/)
  })

  test('come from any of several grants; all groups of one grant must have the node', async () => {
    const [grant] = (granted().actor as unknown as { grants: Grant[] }).grants
    const two = withAuthority({ ...actorRole('viewer'), grants: [grant!, { ...grant!, groupIds: [groups.other.id] }] })
    expect(await isAllowed(start(two, [nodes.a.id, nodes.x.id]))).toBe('allowed')
    expect(await isAllowed(start(granted({ groupIds: [groups.prod.id, groups.other.id] }), [nodes.a.id]))).toMatch(
      /gpu_prod and other/,
    )
  })
})

describe('job templates and credentials of a grant', () => {
  test('limit runs to these templates, also a retry and a cancel', async () => {
    const only = granted({ templateIds: [template.id] })
    const none = granted({ templateIds: [crypto.randomUUID()] })
    expect(await isAllowed(start(only, [nodes.a.id]))).toBe('allowed')
    expect(await isAllowed(start(none, [nodes.a.id]))).toMatch(/do not include the job template connectivity_check/)
    const run = await endedRun(nodes.a.id)
    expect(await isAllowed(retryJobRun(none, { id: run, nodeIds: [nodes.a.id] }))).toMatch(/job template/)
    const { id } = await start(ours.owner, [nodes.a.id])
    expect(await isAllowed(cancelJobRun(none, { id }))).toMatch(/job template/)
    // What is no run needs no template.
    expect(await isAllowed(setNodeMaintenance(none, { id: nodes.a.id, isOn: false }))).toBe('allowed')
    await cancelJobRun(ours.owner, { id })
  })

  test('limit runs, tests and discoveries to nodes that use these credentials', async () => {
    const { admin } = ours
    const inFront = await t.given.credential(admin, 'BASTION', { name: 'outer bastion' })
    const behind = await t.given.credential(admin, 'BASTION', { name: 'inner bastion', viaId: inFront.id })
    const only = granted({ credentialIds: [keys.ours.id, behind.id] })
    const using = (bastionId: string | null) =>
      t.runtime.db.update(computeNodes).set({ bastionId }).where(eq(computeNodes.id, nodes.a.id))
    expect(await isAllowed(start(only, [nodes.a.id]))).toBe('allowed')
    await using(behind.id)
    for (const work of [
      () => start(only, [nodes.a.id]),
      () => discoverNodes(only, { nodeIds: [nodes.a.id] }),
      () => testConnections(only, { nodeIds: [nodes.a.id] }),
    ])
      expect(await isAllowed(work())).toMatch(/do not include the credential outer bastion, needed for gpu001/)
    const both = granted({ credentialIds: [keys.ours.id, behind.id, inFront.id] })
    expect(await isAllowed(start(both, [nodes.a.id]))).toBe('allowed')
    await using(null)
    expect(await isAllowed(testCredential(only, { id: keys.foreign.id, nodeId: nodes.a.id }))).toMatch(/credential foreign key/)
  })

  test('limit runs to templates whose repository needs one of these credentials or none', async () => {
    const git = await t.given.credential(ours.admin, 'GIT', { name: 'plays' })
    const from = { source: 'git', gitUrl: 'ssh://git.test/plays.git', gitRef: 'main', gitCredentialId: git.id } as const
    const column = {
      tenantId: ours.tenant.id,
      name: 'from_git',
      displayName: 'From git',
      category: 'custom',
      playbookPath: 'a.yml',
    }
    await t.runtime.db.insert(jobTemplates).values({ ...column, ...from })
    const run = (credentialIds: string[]) =>
      previewRun(granted({ credentialIds }), { template: 'from_git', nodeIds: [nodes.a.id] })
    expect(await isAllowed(run([keys.ours.id]))).toMatch(/do not include the credential plays/)
    expect(await isAllowed(run([keys.ours.id, git.id]))).toBe('allowed')
    for (const work of [
      (ctx: Ctx) => runJob(ctx, { template: 'from_git', nodeIds: [nodes.a.id] }),
      async (ctx: Ctx) => {
        const { id } = await start(ours.owner, [nodes.a.id])
        await cancelJobRun(ours.owner, { id })
        await t.runtime.db.update(jobRuns).set(from).where(eq(jobRuns.id, id))
        return retryJobRun(ctx, { id, nodeIds: [nodes.a.id] })
      },
    ])
      expect(await isAllowed(work(granted({ credentialIds: [keys.ours.id] })))).toMatch(/do not include the credential plays/)
  })
})

describe('no one widens a grant', () => {
  const broad = () =>
    withAuthority({
      ...authorityOf({ name: 'grouper', permissions: new Set([...rolePermissions('viewer'), 'group:write', 'node:write']) }),
      grants: [
        {
          permissions: new Set(['job_run:start']),
          groupIds: [groups.prod.id],
          templateIds: null,
          credentialIds: null,
          cluster: null,
        },
      ],
    })

  test('by the members, the query, the parent or a subgroup of the group', async () => {
    const ctx = broad()
    const calls: [string, () => Promise<unknown>][] = [
      ['members', () => setNodeGroupMembers(ctx, { id: groups.prod.id, addNodeIds: [nodes.x.id] })],
      ['members of a subgroup', () => updateNodeGroup(ctx, { id: groups.sub.id, memberQuery: 'name = gpu004' })],
      ['a new subgroup', () => createNodeGroup(ctx, { name: 'trick', parentId: groups.prod.id, memberQuery: 'name = gpu004' })],
      ['a group moved below it', () => updateNodeGroup(ctx, { id: groups.other.id, parentId: groups.prod.id })],
    ]
    for (const [what, call] of calls) expect(await isAllowed(call()), what).toMatch(/somebody else must change what is in it/)
    expect(await isAllowed(setNodeGroupMembers(ctx, { id: groups.other.id, addNodeIds: [nodes.y.id] }))).toBe('allowed')
    expect(await isAllowed(createNodeGroup(granted(), { name: 'mine' }))).toMatch(/group:write/)
    await setNodeGroupMembers(ours.admin, { id: groups.other.id, removeNodeIds: [nodes.y.id] })
  })

  test('by a change that moves a node into a group, or a new node in it', async () => {
    const labels = { tier: 'sub' }
    expect(await isAllowed(updateNode(broad(), { id: nodes.x.id, labels }))).toMatch(/groups gpu_prod, gpu_prod_sub/)
    const node = { name: 'new1', host: '10.9.9.9', labels }
    expect(await isAllowed(addNode(broad(), node))).toMatch(/groups gpu_prod/)
    expect(await isAllowed(addNode(broad(), { ...node, labels: {} }))).toBe('allowed')
    const text = 'name,host,labels\nnew2,10.9.9.8,tier=sub'
    expect(await isAllowed(importNodes(broad(), { format: 'CSV', text }))).toMatch(/groups gpu_prod/)
    // Also with node:write only through the grant: the groups' variables would apply to the node.
    expect(await isAllowed(updateNode(granted(), { id: nodes.a.id, labels }))).toMatch(/gpu_prod_sub/)
    expect(await isAllowed(updateNode(granted(), { id: nodes.a.id, labels: { rack: '1' } }))).toBe('allowed')
  })

  test('by the address of a node, its connection, or a credential outside of the grant', async () => {
    const { id } = nodes.a
    for (const change of [
      ...[{ host: '10.66.6.6' }, { port: 2222 }, { xname: 'x66c0s6b0n6' }, { nid: 666 }],
      { interfaces: [{ name: 'eth0', mac: '02:00:5e:66:66:66' }] },
    ]) {
      expect(await isAllowed(updateNode(granted(), { id, ...change }))).toMatch(/node:write in the whole tenant/)
      expect(await isAllowed(updateNodes(granted(), { nodes: [{ id, ...change }] }))).toMatch(/node:write in the whole tenant/)
    }
    expect(await isAllowed(updateNode(granted(), { id, connectionType: 'local' }))).toMatch(/node:local/)
    const only = granted({ credentialIds: [keys.ours.id] })
    expect(await isAllowed(updateNode(only, { id, credentialId: keys.foreign.id }))).toMatch(/credential foreign key/)
    expect(await isAllowed(updateNode(only, { id, bastionId: keys.bastion.id }))).toMatch(/credential bastion/)
    expect(await isAllowed(attachPassword(only, id))).toMatch(/your grants do not include the credential/)
    const noUse = granted({ permissions: new Set(['node:write']) })
    expect(await isAllowed(attachPassword(noUse, id))).toMatch(/credential:use/)
    // The same address again changes nothing.
    expect(await isAllowed(updateNode(granted(), { id, port: 22, credentialId: keys.ours.id }))).toBe('allowed')
  })

  test('by host keys of bastions, new nodes, or variables outside of the group or that Ansible reads', async () => {
    const ctx = granted()
    expect(await isAllowed(approve(ctx, 'Credential', keys.bastion.id))).toMatch(/in the whole tenant/)
    expect(await isAllowed(addNode(ctx, { name: 'n', host: '10.0.9.9' }))).toMatch(/in the whole tenant/)
    expect(await isAllowed(addNodes(ctx, { nodes: [{ name: 'n', host: '10.0.9.9' }] }))).toMatch(/in the whole tenant/)
    expect(await isAllowed(setVars(ctx, { text: 'a: 1', basedOn: 0 }))).toMatch(/in the whole tenant/)
    expect(await isAllowed(setVars(ctx, { groupId: groups.other.id, text: 'a: 1', basedOn: 0 }))).toMatch(/not the group other/)
    expect(
      await isAllowed(setVars(granted({ groupIds: [groups.sub.id] }), { groupId: groups.prod.id, text: 'a: 1', basedOn: 0 })),
    ).toMatch(/not the group gpu_prod/)
    for (const { id } of [groups.prod, groups.sub])
      expect(await isAllowed(setVars(ctx, { groupId: id, text: 'a: 1', basedOn: 0 }))).toBe('allowed')
    const text = 'ansible_python_interpreter: /tmp/mine'
    expect(await isAllowed(setVars(ctx, { nodeId: nodes.a.id, text, basedOn: 0 }))).toMatch(/vars:write_reserved/)
  })
})

describe('createGrant', () => {
  const give = (ctx: Ctx, memberId: string, more: object = {}) =>
    createGrant(ctx, { memberId, role: 'operator', nodeGroupId: groups.prod.id, ...more })

  test('gives a member the permissions of the role for nodes, until it is deleted', async () => {
    const member = await memberOf(ours.viewer)
    const grant = await give(ours.admin, member.id, { jobTemplateIds: [template.id], credentialIds: [keys.ours.id] })
    const ctx = await current(ours.viewer)
    expect(ctx.actor).toMatchObject({ role: 'viewer', permissions: rolePermissions('viewer') })
    expect((ctx.actor as unknown as { grants: Grant[] }).grants).toEqual([
      {
        permissions: new Set([...rolePermissions('operator')].filter((name) => perNodePermissions().has(name))),
        groupIds: [groups.prod.id],
        templateIds: [template.id],
        credentialIds: [keys.ours.id],
        cluster: null,
      },
    ])
    expect(await isAllowed(start(ctx, [nodes.a.id]))).toBe('allowed')
    expect(t.changeEvents).toContainEqual(expect.objectContaining({ topic: 'access', id: member.userId }))
    expect(await deleteGrant(ours.admin, { id: grant.id })).toEqual({ id: grant.id })
    expect(await isAllowed(start(await current(ours.viewer), [nodes.a.id]))).toMatch(/job_run:start/)
    await expect(deleteGrant(ours.admin, { id: grant.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('needs member:write and all permissions of the role in the whole tenant', async () => {
    const { id } = await memberOf(ours.viewer)
    await expect(give(ours.operator, id)).rejects.toMatchObject(FORBIDDEN)
    const limited = withAuthority({
      ...authorityOf({ name: 'hr', permissions: new Set(['tenant:read', 'member:write']) }),
      grants: [
        { permissions: perNodePermissions(), groupIds: [groups.prod.id], templateIds: null, credentialIds: null, cluster: null },
      ],
    })
    await expect(give(limited, id)).rejects.toMatchObject(FORBIDDEN)
    await expect(give(theirs.owner, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { id: theirId } = await memberOf(theirs.viewer)
    await expect(give(theirs.owner, theirId)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(deleteGrant(ours.operator, { id })).rejects.toMatchObject(FORBIDDEN)
  })

  test('rejects unknown roles, templates and credentials, and roles without permissions for nodes', async () => {
    const { id } = await memberOf(ours.viewer)
    const unknown = [crypto.randomUUID()]
    for (const more of [
      { role: 'ghost' },
      { role: 'viewer' },
      { jobTemplateIds: unknown },
      { credentialIds: unknown },
      { jobTemplateIds: [] },
    ])
      await expect(give(ours.admin, id, more)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('follows the role: it changes with it and keeps it from being deleted', async () => {
    const role = await createRole(ours.owner, { name: 'runner', permissions: ['job_run:start'] })
    const grant = await give(ours.owner, (await memberOf(ours.viewer)).id, { role: role.name })
    expect(await isAllowed(start(await current(ours.viewer), [nodes.a.id]))).toBe('allowed')
    await updateRole(ours.owner, { name: role.name, permissions: ['discovery:start'] })
    expect(await isAllowed(start(await current(ours.viewer), [nodes.a.id]))).toMatch(/job_run:start/)
    await expect(deleteRole(ours.owner, { name: role.name })).rejects.toThrow(/in use by a grant of viewer of/)
    await deleteGrant(ours.owner, { id: grant.id })
    await deleteRole(ours.owner, { name: role.name })
  })
})

describe('tokens', () => {
  test('with groups keep only permissions to read in the whole tenant, and create no tokens', async () => {
    const { token } = await createApiToken(ours.admin, { name: 'prod', role: 'admin', nodeGroupIds: [groups.prod.id] })
    const ctx = await asToken(token)
    const permissions = 'permissions' in ctx.actor ? [...ctx.actor.permissions] : []
    expect(permissions).toContain('tenant:read')
    expect(permissions.filter((name) => !name.endsWith(':read'))).toEqual([])
    expect(await isAllowed(start(ctx, [nodes.a.id]))).toBe('allowed')
    expect(await isAllowed(start(ctx, [nodes.x.id]))).toMatch(/cover only the nodes of gpu_prod/)
    await expect(createApiToken(ctx, { name: 'child', role: 'viewer' })).rejects.toMatchObject(FORBIDDEN)
    await expect(createNodeGroup(ctx, { name: 'more' })).rejects.toMatchObject(FORBIDDEN)
    await expect(
      createApiToken(ours.admin, { name: 'x', role: 'viewer', nodeGroupIds: [crypto.randomUUID()] }),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('carry the grants of their owner, inside their own groups and permissions, as they are now', async () => {
    const account = await createServiceAccount(ours.admin, { name: 'nightly', role: 'viewer' })
    const grant = await createGrant(ours.admin, { memberId: account.id, role: 'operator', nodeGroupId: groups.prod.id })
    const create = async (more: object) =>
      asToken((await createApiToken(ours.admin, { name: 'n', role: 'operator', serviceAccountId: account.id, ...more })).token)
    expect(await isAllowed(start(await create({}), [nodes.a.id, nodes.sub.id]))).toBe('allowed')
    expect(await isAllowed(start(await create({}), [nodes.x.id]))).toMatch(/cover only/)
    const subgroup = await create({ nodeGroupIds: [groups.sub.id] })
    expect(await isAllowed(start(subgroup, [nodes.sub.id]))).toBe('allowed')
    expect(await isAllowed(start(subgroup, [nodes.a.id]))).toMatch(/gpu_prod and gpu_prod_sub/)
    expect(await isAllowed(start(await create({ nodeGroupIds: [groups.other.id] }), [nodes.x.id]))).toMatch(/cover only/)
    expect(await isAllowed(start(await create({ role: 'viewer' }), [nodes.a.id]))).toMatch(/job_run:start/)
    const discoverer = await create({ permissions: ['discovery:start'] })
    expect(await isAllowed(discoverNodes(discoverer, { nodeIds: [nodes.a.id] }))).toBe('allowed')
    expect(await isAllowed(start(discoverer, [nodes.a.id]))).toMatch(/job_run:start/)
    const { token } = await createApiToken(ours.admin, { name: 'n', role: 'operator', serviceAccountId: account.id })
    await deleteGrant(ours.admin, { id: grant.id })
    expect(await isAllowed(start(await asToken(token), [nodes.a.id]))).toMatch(/job_run:start/)
  })

  test('of somebody else carry nothing that the creator holds only through a grant', async () => {
    const account = await createServiceAccount(ours.admin, { name: 'strong', role: 'operator' })
    const limited = withAuthority({
      ...authorityOf({ name: 'hr', permissions: new Set(['tenant:read', 'member:write', 'token:write']) }),
      grants: [
        { permissions: perNodePermissions(), groupIds: [groups.prod.id], templateIds: null, credentialIds: null, cluster: null },
      ],
    })
    const fields = { name: 't', role: 'operator', permissions: ['job_run:start'] }
    await expect(createApiToken(limited, { ...fields, serviceAccountId: account.id })).rejects.toMatchObject(FORBIDDEN)
    expect((await createApiToken(limited, fields)).apiToken).toMatchObject({ permissions: ['job_run:start', 'tenant:read'] })
  })

  test('with groups shrink with the role of their owner', async () => {
    const { id } = await memberOf(ours.operator)
    const { token } = await createApiToken(ours.operator, { name: 'p', role: 'operator', nodeGroupIds: [groups.prod.id] })
    await changeMemberRole(ours.admin, { id, role: 'viewer' })
    expect(await isAllowed(start(await asToken(token), [nodes.a.id]))).toMatch(/job_run:start/)
    await changeMemberRole(ours.admin, { id, role: 'operator' })
  })
})

test('a caller with the permission in the whole tenant takes no further statement', async () => {
  const db = new Proxy({}, { get: (_, name) => expect.unreachable(`db.${String(name)} was used`) })
  const { authorizeNodes, authorizeGroup } = await import('../groups/index.ts')
  const { jobRunPermissions } = await import('../runs/permissions.ts')
  await authorizeNodes(db as never, ours.operator, jobRunPermissions.start, [nodes.x.id], { connects: true })
  await authorizeGroup(db as never, ours.operator, jobRunPermissions.start, groups.other.id)
})
