import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tenants } from '../../access/tables.ts'
import { auditEntries } from '../../audit/tables.ts'
import { addSlurmCluster } from '../../clusters/index.ts'
import { createNodeGroup, setNodeGroupMembers } from '../../groups/index.ts'
import { nodeGroupMembers } from '../../groups/tables.ts'
import { decommissionNode } from '../../node-states/index.ts'
import { updateNode } from '../../nodes/index.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { foldHostlist } from '../../selection/index.ts'
import { makeHostKey, type TenantFixture } from '../../testing/factories.ts'
import { race } from '../../testing/race.ts'
import { recordRefresh } from '../../testing/record-refresh.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { clusterState, slurmJob, slurmNode } from '../../testing/slurm-fixture.ts'
import { setVars } from '../../variables/index.ts'
import { exportManifests } from '../export-manifests.ts'
import { manifestObjects } from '../tables.ts'
import { applyManifests } from './apply-manifests.ts'
import { planManifests } from './plan-manifests.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  ours = await t.given.tenant()
})
afterAll(() => t.close())

type Options = Omit<Parameters<typeof applyManifests>[1], 'files'>
const files = (text: string) => [{ name: 'cluster.yaml', text }]
const apply = (text: string, options: Options = {}, ctx = ours.admin) => applyManifests(ctx, { files: files(text), ...options })
const plan = (text: string, options: Options = {}, ctx = ours.admin) => planManifests(ctx, { files: files(text), ...options })
const one = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'muster/v1', kind, metadata: { name }, spec })
const all = (...documents: string[]) => documents.join('\n---\n')
const nodeNamed = async (name: string) => (await ours.admin.db.select().from(computeNodes).where(eq(computeNodes.name, name)))[0]!
const entries = async () => (await ours.admin.db.select({ action: auditEntries.action }).from(auditEntries)).length

const CLUSTER = all(
  one('AlertRoute', 'mail', { type: 'email', host: 'mail.example.org', from: 'a@example.org', to: ['b@example.org'] }),
  one('Variables', 'group:gpu', { vars: { ntp: ['10.0.0.1'], yes: 'no', on: 1 } }),
  `apiVersion: muster/v1
kind: BootProfile
metadata: {name: compute}
spec:
  parent: base
  assignments: [{groups: [gpu]}, {nodes: gpu1, priority: 5}]`,
  one('BootProfile', 'base', {
    arch: 'x86_64',
    kernel: { url: 'http://10.0.0.1/vmlinuz' },
    initrds: [],
    kernelParams: ['quiet'],
  }),
  one('NodeGroup', 'gpu', { parent: 'room', members: 'gpu[1-4]', priority: 10 }),
  one('NodeGroup', 'room', { description: 'Room 1' }),
  one('Credential', 'login', {
    type: 'SSH_KEY',
    username: 'root',
    secretStore: 'vault',
    secretRefs: { privateKey: { path: 'ssh/root', key: 'key' } },
  }),
  one('JobTemplate', 'site', { source: 'shipped', playbookPath: 'ping.yml', defaultVars: { a: { b: null } } }),
  `apiVersion: muster/v1
kind: ComputeNode
metadata: {nodes: "gpu[1-4]"}
spec:
  host: 10.0.0.1+
  nid: 1+
  xname: x1c0s0b0n0
  credential: login
  labels: {rack: A12}
  interfaces: [{name: hsn0, mac: "02:00:00:00:00:01+", isBoot: true}]`.replace('xname: x1c0s0b0n0', 'displayName: "Node {name}"'),
)
const store = async () => {
  const { createSecretStore } = await import('../../credentials/index.ts')
  await createSecretStore(ours.admin, { name: 'vault', address: 'https://vault.example.org', auth: 'TOKEN', secret: 'token' })
}

describe('apply', () => {
  it('creates objects of every kind in the order of their references; a second call changes nothing', async () => {
    await store()
    const planned = await plan(CLUSTER)
    expect(planned).toMatchObject({ issues: [], conflicts: [], isApplied: false, createCount: 12 })
    expect(await ours.admin.db.$count(computeNodes)).toBe(0)
    const before = await entries()
    const applied = await apply(CLUSTER, { fingerprint: planned.fingerprint })
    expect(applied).toMatchObject({ issues: [], isApplied: true, createCount: 12, fingerprint: planned.fingerprint })
    const nodes = applied.changes.find(({ kind }) => kind === 'ComputeNode')!
    expect(nodes).toMatchObject({ action: 'CREATE', names: 'gpu[1-4]', count: 4 })
    expect(nodes.fields).toContainEqual({ path: 'host', before: null, after: '10.0.0.[1-4]' })
    expect(nodes.fields).toContainEqual({ path: 'labels.rack', before: null, after: 'A12' })
    const written = await entries()
    expect(written).toBeGreaterThan(before + 12)
    const [owned] = await ours.admin.db.select().from(manifestObjects)
    expect(await apply(CLUSTER)).toMatchObject({ isApplied: true, changes: [], unchangedCount: 12, nodes: 'gpu[1-4]' })
    expect(await entries()).toBe(written)
    expect((await ours.admin.db.select().from(manifestObjects))[0]).toEqual(owned)
  })

  it('exports what applies without a change, and exports the same bytes again', async () => {
    await store()
    await apply(CLUSTER)
    const text = await exportManifests(ours.admin, {})
    expect(text).toContain('members: gpu[1-4]')
    expect(text).toContain('initrds: []')
    const applied = await apply(text, { owner: 'export' })
    expect(applied).toMatchObject({ issues: [], conflicts: [], changes: [], unchangedCount: 12 })
    expect(await exportManifests(ours.admin, {})).toBe(text)
  })

  it('exports no decommissioned member of a group, and neither removes one nor refuses a manifest that lists it', async () => {
    const group = (members: string) => one('NodeGroup', 'g', { members })
    await apply(all(...[1, 2, 3].map((i) => one('ComputeNode', `n${i}`, { host: `h${i}` })), group('n[1-3]')))
    await decommissionNode(ours.admin, { id: (await nodeNamed('n3')).id })
    const text = await exportManifests(ours.admin, { kinds: ['NodeGroup'] })
    expect(text).toContain('members: n[1-2]\n')
    expect(await apply(text, { owner: 'export' })).toMatchObject({ conflicts: [], changes: [], unchangedCount: 1 })
    expect(await apply(group('n[1-3]'))).toMatchObject({ conflicts: [], changes: [], unchangedCount: 1 })
    expect(await apply(group('n[2-3]'), { owner: 'export', forceConflicts: true })).toMatchObject({ issues: [], updateCount: 1 })
    const left = await ours.admin.db
      .select({ name: computeNodes.name })
      .from(nodeGroupMembers)
      .innerJoin(computeNodes, eq(computeNodes.id, nodeGroupMembers.nodeId))
      .orderBy(computeNodes.name)
    expect(left.map(({ name }) => name)).toEqual(['n2', 'n3'])
  })

  it('changes only the given fields, resets those that are no longer given, and shows what differs', async () => {
    await apply(one('ComputeNode', 'n1', { host: 'h1', rack: 'A1', tags: ['x'], labels: { a: '1', b: '2' } }))
    const { id } = await nodeNamed('n1')
    await updateNode(ours.admin, { id, notes: 'set by hand' })
    const changed = await apply(one('ComputeNode', 'n1', { host: 'h1', rack: 'A2', labels: { a: '1', c: '3' } }))
    expect(changed.changes[0]!.fields).toEqual([
      { path: 'rack', before: 'A1', after: 'A2' },
      { path: 'labels.c', before: null, after: '3' },
      { path: 'labels.b', before: '2', after: null },
      { path: 'tags', before: '["x"]', after: null },
    ])
    expect(await nodeNamed('n1')).toMatchObject({ id, rack: 'A2', tags: [], labels: { a: '1', c: '3' }, notes: 'set by hand' })
  })

  it('applies nothing when one object is invalid, and reports all of them with their lines', async () => {
    const text = `apiVersion: muster/v1
kind: ComputeNode
metadata: {name: ok}
spec: {host: h1}
---
apiVersion: muster/v1
kind: ComputeNode
metadata: {name: bad}
spec:
  host: h2
  credential: nobody
---
apiVersion: muster/v1
kind: NodeGroup
metadata: {name: g}
spec:
  members: ok,missing
`
    const { isApplied, issues } = await apply(text)
    expect(isApplied).toBe(false)
    expect(issues.map(({ line, column, path, message }) => [line, column, path, message])).toEqual([
      [11, 15, 'spec.credential', expect.stringContaining('ComputeNode/bad: there is no credential named nobody')],
      [17, 12, 'spec.members', expect.stringContaining('there is no node named')],
    ])
    expect(await ours.admin.db.$count(computeNodes)).toBe(0)
    expect(await exportManifests(ours.admin, {})).toBe('')
  })

  it('names the line of a node whose MAC another node has', async () => {
    const wired = { host: 'h1', interfaces: [{ name: 'e0', mac: '02:00:00:00:00:01' }] }
    await apply(one('ComputeNode', 'n1', wired))
    const { issues } = await apply(
      all(one('ComputeNode', 'n2', { host: 'h2' }), one('ComputeNode', 'n3', { ...wired, host: 'h3' })),
    )
    expect(issues).toMatchObject([{ document: 2, path: 'spec.interfaces.0.mac', message: expect.stringContaining('n1') }])
  })
})

describe('ownership', () => {
  const rack = (value: string) => one('ComputeNode', 'n1', { host: 'h1', rack: value })

  it('reports a conflict for a field of another owner or one that was changed by hand, until it is forced', async () => {
    await apply(rack('A1'), { owner: 'site' })
    const other = await apply(rack('B1'), { owner: 'team' })
    expect(other).toMatchObject({ isApplied: false, conflicts: [{ path: 'rack', owner: 'site', name: 'n1' }] })
    expect((await nodeNamed('n1')).rack).toBe('A1')
    expect(await apply(rack('B1'), { owner: 'team', forceConflicts: true })).toMatchObject({ isApplied: true, conflicts: [] })
    expect(await apply(rack('A1'), { owner: 'site' })).toMatchObject({ conflicts: [{ owner: 'team' }] })
    await updateNode(ours.admin, { id: (await nodeNamed('n1')).id, rack: 'C1' })
    expect(await apply(rack('B2'), { owner: 'team' })).toMatchObject({ conflicts: [{ path: 'rack', owner: null }] })
    expect(await apply(rack('C1'), { owner: 'team' })).toMatchObject({ isApplied: true, unchangedCount: 1 })
  })

  it('takes over a field that was never set, but not one that was set by hand', async () => {
    const [node] = await t.given.fleet(ours.admin, { with: { rack: 'A1' } })
    const doc = (spec: object) => one('ComputeNode', node!.name, spec)
    expect(await apply(doc({ rack: 'B1' }))).toMatchObject({ conflicts: [{ path: 'rack', owner: null }] })
    expect(await apply(doc({ rackPosition: 'U1' }))).toMatchObject({ isApplied: true, updateCount: 1 })
  })

  it('rejects an outdated resourceVersion', async () => {
    await apply(rack('A1'))
    const text = await exportManifests(ours.admin, { kinds: ['ComputeNode'], withVersions: true })
    const next = text.replace('A1', 'A2')
    expect(await apply(next)).toMatchObject({ isApplied: true, updateCount: 1 })
    expect(await apply(next.replace('A2', 'A3'), { forceConflicts: true })).toMatchObject({
      isApplied: false,
      conflicts: [{ path: 'metadata.resourceVersion' }],
    })
  })

  it('prunes only what this owner applied, children first, and restores what returns', async () => {
    const parent = one('NodeGroup', 'top', {})
    const child = one('NodeGroup', 'below', { parent: 'top', members: 'n1' })
    const node = one('ComputeNode', 'n1', { host: 'h1' })
    await t.given.fleet(ours.admin, { prefix: 'other' })
    await apply(all(parent, child, node), { owner: 'site' })
    await apply(one('NodeGroup', 'shared', {}), { owner: 'site' })
    await apply(one('NodeGroup', 'shared', { description: 'x' }), { owner: 'team' })
    const keep = one('NodeGroup', 'kept', {})
    const planned = await plan(keep, { owner: 'site', prune: true })
    expect(planned.changes.map(({ action, kind, names }) => `${action} ${kind} ${names}`).sort()).toEqual(
      ['CREATE NodeGroup kept', 'DELETE ComputeNode n1', 'DELETE NodeGroup below, top'].sort(),
    )
    expect(await apply(keep, { owner: 'site', prune: true })).toMatchObject({ isApplied: true, deleteCount: 3 })
    expect(await nodeNamed('n1')).toMatchObject({ status: 'DECOMMISSIONED' })
    const back = await apply(node, { owner: 'site' })
    expect(back.changes[0]!.fields[0]).toEqual({ path: 'status', before: 'DECOMMISSIONED', after: 'in service' })
    expect(await nodeNamed('n1')).toMatchObject({ status: 'NEW' })
  })

  it('serializes racing manifests: the second reports a conflict', async () => {
    await apply(rack('A0'), { owner: 'first' })
    await apply(rack('A0'), { owner: 'second' })
    const { won } = await race(
      apply(rack('A1'), { owner: 'first', forceConflicts: true }),
      apply(rack('A2'), { owner: 'second' }),
    )
    expect(won.filter(({ isApplied }) => isApplied)).toHaveLength(1)
    expect(won.filter(({ conflictCount }) => conflictCount > 0)).toHaveLength(1)
    const planned = await plan(rack('A5'), { owner: 'first', forceConflicts: true })
    await apply(rack('A6'), { owner: 'first', forceConflicts: true })
    await expect(apply(rack('A5'), { owner: 'first', forceConflicts: true, fingerprint: planned.fingerprint })).rejects.toThrow(
      'Plan again',
    )
  })
})

describe('permissions', () => {
  it('calls the verbs with the permissions of the caller', async () => {
    const text = all(one('ComputeNode', 'n1', { host: 'h1' }), one('Credential', 'c', { type: 'SSH_KEY' }))
    expect((await plan(text, {}, ours.operator)).issues).toMatchObject([{ message: expect.stringContaining('credential:write') }])
    expect((await plan(text, {}, ours.viewer)).issueCount).toBe(2)
    await expect(apply(text, {}, ours.viewer)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  it('sees and changes nothing of another tenant', async () => {
    const theirs = await t.given.tenant()
    const text = one('ComputeNode', 'n1', { host: 'h1', rack: 'A1' })
    await apply(text)
    expect(await plan(text, {}, theirs.admin)).toMatchObject({ createCount: 1, conflicts: [] })
    expect(await exportManifests(theirs.admin, {})).toBe('')
    await applyManifests(theirs.admin, { files: files(one('NodeGroup', 'g', {})), prune: true })
    expect((await nodeNamed('n1')).status).toBe('NEW')
  })
})

it('shows the impact: reboots, variables and nodes that move', async () => {
  const profile = (param: string) =>
    one('BootProfile', 'base', {
      kernel: { url: 'http://10.0.0.1/vmlinuz' },
      kernelParams: [param],
      assignments: [{ groups: ['g'] }],
    })
  const nodes = (host: string) =>
    `apiVersion: muster/v1\nkind: ComputeNode\nmetadata: {nodes: "n[1-3]"}\nspec: {host: ${host}+}\n`
  const vars = (value: string) => one('Variables', 'group:g', { vars: { a: value } })
  const group = one('NodeGroup', 'g', { members: 'n[1-2]' })
  await apply(all(profile('quiet'), nodes('10.0.0.1'), group, vars('1')))
  const { impact } = await plan(all(profile('debug'), nodes('10.0.1.1'), group, vars('2')))
  expect(impact).toEqual([
    { kind: 'REBOOT', count: 2, nodes: 'n[1-2]' },
    { kind: 'HOST_KEY', count: 3, nodes: 'n[1-3]' },
    { kind: 'VARIABLES', count: 2, nodes: 'n[1-2]' },
  ])
})

it('shows the accelerators and running Slurm jobs of nodes that leave or move', async () => {
  const fleet = await t.given.fleet(ours.admin, { nodes: 3, accelerators: 2, with: { hostKey: makeHostKey() } })
  const [first, second, third] = fleet
  const { id } = await addSlurmCluster(ours.admin, { name: 'prod', controllerNodeId: third!.id })
  await recordRefresh(ours.worker, {
    ...{ id, queries: [], durationMs: 1, error: null },
    state: clusterState({
      nodes: fleet.map(({ name }) => slurmNode(name)),
      jobs: [
        slurmJob(1, { nodes: `${first!.name},${second!.name}` }),
        slurmJob(2, { nodes: third!.name }),
        slurmJob(3, { nodes: first!.name, states: ['COMPLETED'] }),
      ],
    }),
  })
  const doc = ({ name, host }: { name: string; host: string }) => one('ComputeNode', name, { host })
  await apply(all(...fleet.map(doc)), { owner: 'site' })
  const { impact, issues } = await plan(all(doc({ name: second!.name, host: '10.7.7.7' }), doc(third!)), {
    owner: 'site',
    prune: true,
  })
  expect(issues).toEqual([])
  expect(impact).toEqual([
    { kind: 'HOST_KEY', count: 1, nodes: second!.name },
    { kind: 'ACCELERATORS', count: 2, nodes: first!.name },
    { kind: 'SLURM_JOBS', count: 1, nodes: foldHostlist([first!.name, second!.name]) },
  ])
})

it('changes many nodes at once, which can exchange MACs, and names the line of a MAC that is taken', async () => {
  const wired = (name: string, mac: number, rack: string) =>
    one('ComputeNode', name, { host: `${name}.test`, rack, interfaces: [{ name: 'e0', mac: `02:00:00:00:00:0${mac}` }] })
  await apply(all(wired('n1', 1, 'A'), wired('n2', 2, 'A'), wired('n3', 3, 'A')))
  expect(await apply(all(wired('n1', 2, 'B'), wired('n2', 1, 'B')))).toMatchObject({
    issues: [],
    isApplied: true,
    updateCount: 2,
  })
  const { isApplied, issues } = await apply(all(wired('n1', 2, 'C'), wired('n2', 3, 'C')))
  expect(isApplied).toBe(false)
  expect(issues).toMatchObject([{ document: 2, path: 'spec.interfaces.0.mac', message: expect.stringContaining('n3') }])
  expect((await nodeNamed('n1')).rack).toBe('B')
})

it('names the document of a node for which a change of many nodes fails', async () => {
  await t.runtime.db.update(tenants).set({ maxNodes: 4 }).where(eq(tenants.id, ours.tenant.id))
  const node = (i: number, spec: object = {}) => one('ComputeNode', `n${i}`, { host: `n${i}.test`, ...spec })
  const some = (count: number) => all(...Array.from({ length: count }, (_, i) => node(i + 1)))
  const quota = { document: 5, path: 'metadata.name', message: expect.stringMatching(/^ComputeNode\/n5: .*its quota is 4/) }
  expect((await apply(some(5))).issues).toMatchObject([quota])
  expect(await apply(some(4))).toMatchObject({ issues: [], isApplied: true })
  // An operator may not make a node local.
  const changed = all(
    node(1, { rack: 'A' }),
    node(2, { rack: 'A' }),
    node(3, { connectionType: 'local' }),
    node(4, { rack: 'A' }),
  )
  const result = await apply(changed, {}, ours.operator)
  expect(result.issues).toMatchObject([{ document: 3, message: expect.stringMatching(/^ComputeNode\/n3: /) }])
  expect(result.issueCount).toBe(1)
})

it('moves nodes between groups of an exclusive set', async () => {
  const text = (a: string, b: string) =>
    all(
      `apiVersion: muster/v1\nkind: ComputeNode\nmetadata: {nodes: "n[1-2]"}\nspec: {host: 10.0.0.1+}\n`,
      one('NodeGroup', 'a', { exclusiveSet: 'use', members: a }),
      one('NodeGroup', 'b', { exclusiveSet: 'use', members: b }),
    )
  expect(await apply(text('n1', 'n2'))).toMatchObject({ issues: [] })
  expect(await apply(text('n2', 'n1'))).toMatchObject({ issues: [], updateCount: 2 })
})

it('stores variables with the value null', async () => {
  const vars = (vars: object) => one('Variables', 'all', { vars })
  const created = await apply(vars({ a: null, b: 1 }))
  expect(created.changes[0]!.fields).toContainEqual({ path: 'vars.a', before: null, after: 'null' })
  expect(await exportManifests(ours.admin, {})).toContain('    a: null\n    b: 1\n')
  expect(await apply(vars({ a: null, b: 1 }))).toMatchObject({ changes: [] })
  expect((await apply(vars({ a: 1, b: null }))).changes[0]!.fields).toEqual([
    { path: 'vars.a', before: 'null', after: '1' },
    { path: 'vars.b', before: '1', after: 'null' },
  ])
  await apply(vars({ a: 1 }))
  expect(await exportManifests(ours.admin, {})).toMatch(/vars:\n {4}a: 1\n$/)
})

it('leaves variables that people set alone', async () => {
  await setVars(ours.admin, { text: 'mine: 1', basedOn: 0 })
  await apply(one('Variables', 'all', { vars: { theirs: 'x' } }))
  const { rows } = await t.runtime.db.execute(sql`select vars from variable_scopes where tenant_id = ${ours.admin.tenantId}`)
  expect(rows).toEqual([{ vars: { mine: 1, theirs: 'x' } }])
})

it('does not change what is built in, or a group of explicit members that has none', async () => {
  const group = await createNodeGroup(ours.admin, { name: 'g' })
  const [node] = await t.given.fleet(ours.admin)
  await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: [node!.id] })
  expect(await apply(one('NodeGroup', 'g', { members: [] }))).toMatchObject({ conflicts: [{ path: 'members' }] })
})
