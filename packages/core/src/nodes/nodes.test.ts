import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { recordOfferedHostKey } from '../connections/index.ts'
import { decommissionNode, setNodeMaintenance } from '../node-states/index.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import { makeHostKey, type TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { addNode } from './add-node.ts'
import { fingerprint } from './host-key.ts'
import { importNodes } from './import-nodes.ts'
import { purgeNode } from './purge-node.ts'
import { recommissionNode } from './recommission-node.ts'
import { type ComputeNode, computeNodes, nodeInterfaces } from './tables.ts'
import { updateNode } from './update-node.ts'

let t: TestRuntime
let fixture: TenantFixture
let seen = 0
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
})
afterAll(() => t.close())

const aNode = async (fields: Partial<ComputeNode> = {}): Promise<ComputeNode> =>
  (await t.given.fleet(fixture.operator, { prefix: `n${++seen}x`, with: fields }))[0]!

const auditOf = (objectId: string) =>
  t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, fixture.tenant.id), eq(auditEntries.objectId, objectId)))
    .orderBy(auditEntries.id)

let runNumber = 0
async function aRunOn(node: ComputeNode): Promise<string> {
  const [template] = await t.runtime.db.select().from(jobTemplates).where(eq(jobTemplates.tenantId, fixture.tenant.id)).limit(1)
  const { name, playbookPath, become, becomeMethod, becomeUser, timeoutSeconds, forks } = template!
  const [run] = await t.runtime.db
    .insert(jobRuns)
    .values({
      tenantId: fixture.tenant.id,
      templateId: template!.id,
      templateName: name,
      number: ++runNumber,
      ...{ playbookPath, become, becomeMethod, becomeUser, timeoutSeconds, forks },
      createdByName: 'x',
    })
    .returning()
  await t.runtime.db.insert(jobRunHosts).values({ jobRunId: run!.id, nodeId: node.id, name: node.name })
  return run!.id
}
const finish = (id: string) =>
  t.runtime.db.update(jobRuns).set({ finishedAt: new Date(), endCause: 'exit' }).where(eq(jobRuns.id, id))

describe('addNode', () => {
  test('adds a NEW node with audit entry and change event', async () => {
    const { operator } = fixture
    const key = await t.given.credential(fixture.admin, 'SSH_KEY')
    const node = await addNode(operator, {
      name: 'gpu1',
      host: 'GPU1.example.com',
      credentialId: key.id,
      tags: ['a', 'a', 'b'],
      labels: { rack: 12 },
    })
    expect(node).toMatchObject({
      name: 'gpu1',
      host: 'gpu1.example.com',
      port: 22,
      status: 'NEW',
      connectionType: 'ssh',
      tags: ['a', 'b'],
      labels: { rack: '12' },
      credentialId: key.id,
      hostKey: null,
    })
    expect(await auditOf(node.id)).toMatchObject([{ action: 'node.add', actorId: operator.actor.id, objectName: 'gpu1' }])
    expect(t.changeEvents).toContainEqual({ topic: 'node', id: node.id, tenantId: fixture.tenant.id })
  })

  test('accepts null for omitted fields', async () => {
    const none = { port: null, connectionType: null, nodeType: null, tags: null, labels: null, notes: null, hostKey: null }
    expect(await addNode(fixture.operator, { name: 'bare', host: 'bare', ...none })).toMatchObject({
      port: 22,
      nodeType: 'COMPUTE',
      tags: [],
    })
  })

  test('attaching a password requires credential:use; keeping one does not', async () => {
    const login = await t.given.credential(fixture.admin, 'SSH_PASSWORD', { allowedHosts: ['pw*'] })
    const become = await t.given.credential(fixture.admin, 'BECOME')
    const forbidden = { code: 'FORBIDDEN', message: expect.stringContaining('credential:use') }
    const { id } = await addNode(fixture.operator, { name: 'pw1', host: 'pw1' })
    for (const reference of [{ credentialId: login.id }, { becomeCredentialId: become.id }]) {
      await expect(addNode(fixture.operator, { name: 'pw2', host: 'pw2', ...reference })).rejects.toMatchObject(forbidden)
      await expect(updateNode(fixture.operator, { id, ...reference })).rejects.toMatchObject(forbidden)
      await expect(importNodes(fixture.operator, { format: 'LIST', text: 'pw2', defaults: reference })).rejects.toMatchObject(
        forbidden,
      )
      await updateNode(fixture.admin, { id, ...reference })
      expect(await updateNode(fixture.operator, { id, ...reference, notes: 'x' })).toMatchObject(reference)
    }
    const text = `name,credential\npw3,${login.name}\n`
    expect((await importNodes(fixture.operator, { format: 'CSV', text })).rows).toMatchObject([
      { state: 'INVALID', issues: [{ path: 'credential', message: expect.stringContaining('credential:use') }] },
    ])
    await expect(addNode(fixture.admin, { name: 'pw4', host: 'elsewhere', credentialId: login.id })).rejects.toMatchObject({
      issues: [{ path: 'credentialId', message: expect.stringContaining('not sent to elsewhere') }],
    })
  })

  test('pins a given host key', async () => {
    const hostKey = makeHostKey()
    const node = await addNode(fixture.admin, { name: 'gpu2', host: '::1', hostKey: `${hostKey} root@gpu2\n` })
    expect(node).toMatchObject({ hostKey, hostKeyApprovedAt: expect.any(Date) })
  })

  test.each([
    [{ name: 'a b' }, 'name'],
    [{ host: '-oProxyCommand=x' }, 'host'],
    [{ port: 0 }, 'port'],
    [{ sshUser: '$(x)' }, 'sshUser'],
    [{ tags: ['ok', 'a b'] }, 'tags.1'],
    [{ labels: { 'a b': 'x' } }, 'labels.a b'],
    [{ notes: 'a\u0000b' }, 'notes'],
    [{ displayName: 'a\nb' }, 'displayName'],
    [{ hostKey: 'ssh-rsa nonsense' }, 'hostKey'],
    [{ hostKey: makeHostKey().replace('ssh-ed25519', 'ssh-rsa') }, 'hostKey'],
    [{ credentialId: 'x' }, 'credentialId'],
  ])('rejects %j at %s', async (fields, path) => {
    await expect(addNode(fixture.operator, { name: 'bad', host: 'bad', ...fields })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path }],
    })
  })

  test('rejects a credential of another kind', async () => {
    const become = await t.given.credential(fixture.admin, 'BECOME')
    await expect(addNode(fixture.operator, { name: 'bad', host: 'bad', credentialId: become.id })).rejects.toMatchObject({
      issues: [{ path: 'credentialId', message: expect.stringContaining('BECOME') }],
    })
  })

  test('an admin may add a node of connection type local', async () => {
    expect(await addNode(fixture.admin, { name: 'self', host: 'self', connectionType: 'local' })).toMatchObject({
      connectionType: 'local',
    })
  })

  test('only one of two concurrent calls adds a node', async () => {
    const { won, lost } = await race(
      addNode(fixture.operator, { name: 'twin', host: 'twin' }),
      addNode(fixture.admin, { name: 'twin', host: 'twin' }),
    )
    expect(won).toHaveLength(1)
    expect(lost).toMatchObject([{ code: 'CONFLICT', message: expect.stringContaining('already a node named twin') }])
  })
})

describe('updateNode', () => {
  test('changes the given fields only', async () => {
    const node = await aNode({ notes: 'old', displayName: 'Old' })
    const changed = await updateNode(fixture.operator, { id: node.id, displayName: null, tags: ['x'] })
    expect(changed).toMatchObject({ notes: 'old', displayName: null, tags: ['x'], hostKey: node.hostKey, status: 'READY' })
    expect(changed.updatedAt.getTime()).toBeGreaterThan(node.updatedAt.getTime())
    expect((await auditOf(node.id)).at(-1)).toMatchObject({
      action: 'node.update',
      details: { changed: ['displayName', 'tags'] },
    })
  })

  test.each([{ host: 'elsewhere' }, { port: 2222 }])('%j makes the node NEW and drops its pinned key', async (move) => {
    const node = await aNode({ offeredHostKey: makeHostKey(), unreachableSince: new Date(), unreachableReason: 'x' })
    const changed = await updateNode(fixture.operator, { id: node.id, ...move })
    expect(changed).toMatchObject({
      ...move,
      status: 'NEW',
      hostKey: null,
      hostKeyApprovedAt: null,
      offeredHostKey: null,
      unreachableReason: null,
    })
    expect((await auditOf(node.id)).at(-1)!.details).toMatchObject({
      from: { host: node.host, port: 22 },
      droppedHostKey: fingerprint(node.hostKey!),
    })
  })

  test('keeps the pinned key with the same host and port', async () => {
    const node = await aNode()
    const changed = await updateNode(fixture.operator, { id: node.id, host: node.host, port: node.port })
    expect(changed).toMatchObject({ status: 'READY', hostKey: node.hostKey })
  })

  test('rejects a taken name', async () => {
    const [one, two] = [await aNode(), await aNode()]
    await expect(updateNode(fixture.operator, { id: one.id, name: two.name })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(two.name),
    })
  })

  test('rejects a decommissioned node', async () => {
    const node = await aNode({ decommissionedAt: new Date() })
    await expect(updateNode(fixture.operator, { id: node.id, notes: 'x' })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/decommissioned; recommission it first/),
    })
  })

  test('operators cannot change a local node', async () => {
    const node = await aNode({ connectionType: 'local' })
    await expect(updateNode(fixture.operator, { id: node.id, notes: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await updateNode(fixture.admin, { id: node.id, notes: 'x' })).toMatchObject({ notes: 'x' })
  })

  test('only one of two concurrent renames to the same name succeeds', async () => {
    const [one, two] = [await aNode(), await aNode()]
    const { won, lost } = await race(
      updateNode(fixture.operator, { id: one.id, name: 'wanted' }),
      updateNode(fixture.operator, { id: two.id, name: 'wanted' }),
    )
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })
})

describe('xname and NID', () => {
  test('are normalized, cleared, and unique in the tenant', async () => {
    const [one, two] = [await aNode(), await aNode()]
    const fields = { xname: 'X0900c0s01b0n0', nid: 900, managementIp: ' FD00::1 ', rack: 'A1', rackPosition: 'U7' }
    expect(await updateNode(fixture.operator, { id: one.id, ...fields })).toMatchObject({
      ...{ xname: 'x900c0s1b0n0', nid: 900, managementIp: 'fd00::1', rack: 'A1', rackPosition: 'U7' },
    })
    for (const [clash, what] of [
      [{ xname: 'x900c0s1b0n0' }, 'the xname x900c0s1b0n0'],
      [{ nid: 900 }, 'the NID 900'],
    ] as const) {
      const message = `The node ${one.name} (READY) already has ${what}. Clear it there, or choose another one.`
      await expect(updateNode(fixture.operator, { id: two.id, ...clash })).rejects.toMatchObject({ code: 'CONFLICT', message })
      const added = addNode(fixture.operator, { name: `n${++seen}`, host: '10.9.9.9', ...clash })
      await expect(added).rejects.toMatchObject({ code: 'CONFLICT', message })
    }
    const other = await t.given.tenant()
    await addNode(other.operator, { name: 'same', host: '10.9.9.9', xname: 'x900c0s1b0n0', nid: 900 })
    await updateNode(fixture.operator, { id: one.id, xname: null, nid: null })
    expect(await updateNode(fixture.operator, { id: two.id, xname: 'x900c0s1b0n0', nid: 900 })).toMatchObject({ nid: 900 })
  })

  test.each([
    ['xname', 'x1000c256s0b0n0', /such as x1000c0s3b0n1/],
    ['nid', -1, /0 to 2147483647/],
    ['nid', 2 ** 31, /0 to 2147483647/],
    ['managementIp', 'gpu1', /IPv4 or IPv6 address/],
    ['managementIp', 'fe80::1%eth0', /IPv4 or IPv6 address/],
  ])('%s rejects %j', async (path, value, message) => {
    const { id } = await aNode()
    await expect(updateNode(fixture.operator, { id, [path]: value })).rejects.toMatchObject({
      issues: [{ path, message: expect.stringMatching(message) }],
    })
  })

  test('of two nodes that take an xname at once, one gets it', async () => {
    const [one, two] = [await aNode(), await aNode()]
    const { won, lost } = await race(
      updateNode(fixture.operator, { id: one.id, xname: 'x901c0s0b0n0' }),
      updateNode(fixture.operator, { id: two.id, xname: 'x901c0s0b0n0' }),
    )
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })

  test('a CSV import reports clashes at their column', async () => {
    const taken = await aNode({ xname: 'x902c0s0b0n0', nid: 902 })
    const report = await importNodes(fixture.operator, {
      format: 'CSV',
      text: `name,host,xname,nid,management_ip,rack,rack_position
csv1,10.90.0.1,X902c0s1b0n0,9021,10.1.0.1,A1,U1
csv2,10.90.0.2,x902c0s01b0n0,,,,
csv3,10.90.0.3,x902c0s0b0n0,902,,,
csv4,10.90.0.4,,many,nowhere,,`,
    })
    expect(report.rows.map(({ state, issues }) => [state, issues.map(({ path }) => path).join()])).toEqual([
      ['ADDED', ''],
      ['INVALID', 'xname'],
      ['INVALID', 'xname,nid'],
      ['INVALID', 'nid,managementIp'],
    ])
    expect(report.rows[2]!.issues[0]!.message).toContain(`The node ${taken.name} (READY) already has the xname`)
    expect(report.rows[0]!.node).toMatchObject({
      ...{ xname: 'x902c0s1b0n0', nid: 9021, managementIp: '10.1.0.1', rack: 'A1', rackPosition: 'U1' },
    })
  })
})

describe('interfaces', () => {
  const interfacesOf = (nodeId: string) =>
    t.runtime.db.select().from(nodeInterfaces).where(eq(nodeInterfaces.nodeId, nodeId)).orderBy(nodeInterfaces.position)
  const eth = (mac: string, rest: object = {}) => ({ name: 'eth0', mac, ...rest })

  test('are normalized, replaced as a whole, and removed with the node', async () => {
    const node = await addNode(fixture.operator, {
      name: `n${++seen}`,
      host: '10.9.9.8',
      interfaces: [
        { name: 'ib0', mac: '80000208FE800000000000007CFE900300292652' },
        { name: 'eth1', mac: '0200.5E10.0001', addresses: [{ address: 'FD00::1', network: 'mgmt' }] },
        eth('02-00-5E-10-00-02', { isBoot: true }),
      ],
    })
    expect(await interfacesOf(node.id)).toMatchObject([
      { name: 'ib0', mac: '80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52', isBoot: false },
      { name: 'eth1', mac: '02:00:5e:10:00:01', isBoot: false, addresses: [{ address: 'fd00::1', network: 'mgmt' }] },
      { name: 'eth0', mac: '02:00:5e:10:00:02', isBoot: true, addresses: [] },
    ])
    await updateNode(fixture.operator, { id: node.id, notes: 'kept' })
    expect(await interfacesOf(node.id)).toHaveLength(3)
    await updateNode(fixture.operator, { id: node.id, interfaces: [eth('02:00:5e:10:00:01')] })
    expect(await interfacesOf(node.id)).toMatchObject([{ name: 'eth0', mac: '02:00:5e:10:00:01' }])
    expect((await auditOf(node.id)).at(-1)).toMatchObject({
      details: {
        changed: ['interfaces'],
        macs: {
          from: ['80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52', '02:00:5e:10:00:01', '02:00:5e:10:00:02'],
          to: ['02:00:5e:10:00:01'],
        },
      },
    })
    await decommissionNode(fixture.operator, { id: node.id })
    await purgeNode(fixture.admin, { id: node.id })
    expect(await interfacesOf(node.id)).toEqual([])
  })

  test('a MAC belongs to one node of the tenant; a conflict changes nothing and names the node', async () => {
    const [one, two] = [await aNode(), await aNode()]
    await updateNode(fixture.operator, { id: one.id, interfaces: [eth('02:00:5e:10:01:01')] })
    await updateNode(fixture.operator, { id: two.id, interfaces: [eth('02:00:5e:10:01:02')] })
    const clash = updateNode(fixture.operator, { id: two.id, notes: 'lost', interfaces: [eth('02005e100101')] })
    await expect(clash).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `The node ${one.name} (READY) already has an interface with the MAC 02:00:5e:10:01:01. Remove it there, or enter another one.`,
    })
    expect(await interfacesOf(two.id)).toMatchObject([{ mac: '02:00:5e:10:01:02' }])
    const other = await t.given.tenant()
    const interfaces = [eth('02:00:5e:10:01:01')]
    await expect(addNode(other.operator, { name: 'same', host: '10.9.9.8', interfaces })).resolves.toBeDefined()
    await expect(updateNode(other.operator, { id: one.id, interfaces: [] })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('of two nodes that take a MAC at once, one gets it', async () => {
    const [one, two] = [await aNode(), await aNode()]
    const { won, lost } = await race(
      updateNode(fixture.operator, { id: one.id, interfaces: [eth('02:00:5e:10:02:01')] }),
      updateNode(fixture.operator, { id: two.id, interfaces: [eth('02:00:5e:10:02:01')] }),
    )
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })

  test.each([
    [[eth('ff:ff:ff:ff:ff:ff')], 'interfaces.0.mac'],
    [[eth('80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52', { isBoot: true })], 'interfaces.0.mac'],
    [[{ name: 'eth 0', mac: '02:00:5e:10:03:01' }], 'interfaces.0.name'],
    [[eth('02:00:5e:10:03:01'), eth('02:00:5e:10:03:02')], 'interfaces.1.name'],
    [[eth('02:00:5e:10:03:01'), { name: 'eth1', mac: '02005e100301' }], 'interfaces.1.mac'],
    [
      [eth('02:00:5e:10:03:01', { isBoot: true }), { name: 'eth1', mac: '02:00:5e:10:03:02', isBoot: true }],
      'interfaces.1.isBoot',
    ],
    [[eth('02:00:5e:10:03:01', { addresses: [{ address: '10.0.0.256' }] })], 'interfaces.0.addresses.0.address'],
  ])('rejects %j at %s', async (interfaces, path) => {
    const { id } = await aNode()
    await expect(updateNode(fixture.operator, { id, interfaces })).rejects.toMatchObject({ issues: [{ path }] })
  })

  test('a CSV import sets the boot interface and reports taken MACs', async () => {
    const taken = await aNode()
    await updateNode(fixture.operator, { id: taken.id, interfaces: [eth('02:00:5e:10:04:01')] })
    const report = await importNodes(fixture.operator, {
      format: 'CSV',
      text: `name,host,mac,interface
mac1,10.91.0.1,02-00-5E-10-04-02,eno1
mac2,10.91.0.2,02005e100402,
mac3,10.91.0.3,02:00:5e:10:04:01,
mac4,10.91.0.4,none,
mac5,10.91.0.5,80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52,ib0`,
    })
    expect(report.rows.map(({ state, issues }) => [state, ...issues.map(({ path }) => path)])).toEqual([
      ['ADDED'],
      ['INVALID', 'mac'],
      ['INVALID', 'mac'],
      ['INVALID', 'mac'],
      ['INVALID', 'mac'],
    ])
    expect(report.rows[2]!.issues[0]!.message).toContain(`The node ${taken.name} (READY) already has an interface`)
    expect(await interfacesOf(report.rows[0]!.node!.id)).toMatchObject([{ name: 'eno1', mac: '02:00:5e:10:04:02', isBoot: true }])
  })
})

test('setNodeMaintenance sets maintenance once and ends it', async () => {
  const node = await aNode()
  const on = await setNodeMaintenance(fixture.operator, { id: node.id, isOn: true })
  expect(on.status).toBe('MAINTENANCE')
  const again = await setNodeMaintenance(fixture.operator, { id: node.id, isOn: true })
  expect(again.maintenanceAt).toEqual(on.maintenanceAt)
  expect(await setNodeMaintenance(fixture.operator, { id: node.id, isOn: false })).toMatchObject({ status: 'READY' })
  await decommissionNode(fixture.operator, { id: node.id })
  await expect(setNodeMaintenance(fixture.operator, { id: node.id, isOn: true })).rejects.toMatchObject({ code: 'CONFLICT' })
})

describe('decommission, recommission, purge', () => {
  test('a recommissioned node is NEW and keeps its host key', async () => {
    const node = await aNode()
    expect(await decommissionNode(fixture.operator, { id: node.id })).toMatchObject({ status: 'DECOMMISSIONED' })
    await expect(decommissionNode(fixture.operator, { id: node.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('already decommissioned'),
    })
    expect(await recommissionNode(fixture.operator, { id: node.id })).toMatchObject({ status: 'NEW', hostKey: node.hostKey })
    await expect(recommissionNode(fixture.operator, { id: node.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('in service already'),
    })
  })

  test('purges only decommissioned nodes, permanently', async () => {
    const node = await aNode()
    await expect(purgeNode(fixture.admin, { id: node.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/is READY; decommission it first/),
    })
    await decommissionNode(fixture.operator, { id: node.id })
    expect(await purgeNode(fixture.admin, { id: node.id })).toEqual({ id: node.id })
    expect(await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, node.id))).toEqual([])
    expect((await auditOf(node.id)).at(-1)).toMatchObject({ action: 'node.purge', objectName: node.name })
    await expect(purgeNode(fixture.admin, { id: node.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('rejects decommission and purge during an unfinished run, which the message names', async () => {
    const node = await aNode()
    const run = await aRunOn(node)
    await expect(decommissionNode(fixture.operator, { id: node.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(run),
    })
    await t.runtime.db.update(computeNodes).set({ decommissionedAt: new Date() }).where(eq(computeNodes.id, node.id))
    await expect(purgeNode(fixture.admin, { id: node.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(run),
    })
    await finish(run)
    expect(await purgeNode(fixture.admin, { id: node.id })).toEqual({ id: node.id })
  })

  test('waits for a concurrent start of a run', async () => {
    const node = await aNode()
    let retiring: Promise<unknown> = Promise.resolve()
    await t.runtime.db.transaction(async (tx) => {
      await tx.select().from(computeNodes).where(eq(computeNodes.id, node.id)).for('share')
      retiring = decommissionNode(fixture.operator, { id: node.id }).catch((error: unknown) => error)
      await aRunOn(node)
    })
    expect(await retiring).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('unfinished run') })
  })

  test('only one of two concurrent purges succeeds', async () => {
    const node = await aNode({ decommissionedAt: new Date() })
    const { won, lost } = await race(purgeNode(fixture.admin, { id: node.id }), purgeNode(fixture.owner, { id: node.id }))
    expect([won, lost.map((e) => e.name)]).toEqual([[{ id: node.id }], ['NotFound']])
  })
})

test('a node with a host key alarm stays UNREACHABLE when its notes change', async () => {
  const node = await aNode()
  await recordOfferedHostKey(fixture.worker, { objectType: 'ComputeNode', objectId: node.id, key: makeHostKey() })
  expect(await updateNode(fixture.operator, { id: node.id, notes: 'x' })).toMatchObject({ status: 'UNREACHABLE' })
})
