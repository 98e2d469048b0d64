import { rootCertificates } from 'node:tls'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/tables.ts'
import { deleteCredential } from '../../credentials/index.ts'
import { selectNodes } from '../../selection/index.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { race } from '../../testing/race.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { addNode } from '../add-node.ts'
import { importNodes } from '../import-nodes.ts'
import { type ComputeNode, nodeBmcs } from '../tables.ts'
import { removeNodeBmc } from './remove-node-bmc.ts'
import { removeNodeBmcs } from './remove-node-bmcs.ts'
import { setNodeBmc } from './set-node-bmc.ts'
import { setNodeBmcs } from './set-node-bmcs.ts'

let t: TestRuntime
let ours: TenantFixture
let credentialId: string
let seen = 0
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  credentialId = (await t.given.credential(ours.admin, 'BMC', { name: 'bmcs', allowedHosts: ['10.7.0.0/16'] })).id
})
afterAll(() => t.close())

const PIN = 'ab'.repeat(32)
const aNode = async (): Promise<ComputeNode> => (await t.given.fleet(ours.operator, { prefix: `b${++seen}x` }))[0]!
const bmcOf = async (nodeId: string) => (await t.runtime.db.select().from(nodeBmcs).where(eq(nodeBmcs.nodeId, nodeId)))[0]
const address = () => `10.7.0.${++seen}`

describe('the BMC of a node', () => {
  test('is set, changed in part, and removed', async () => {
    const { id: nodeId } = await aNode()
    const at = address()
    const bmc = await setNodeBmc(ours.admin, { nodeId, address: at, credentialId, mac: '02-00-5E-20-00-01', fingerprint: PIN })
    expect(bmc).toMatchObject({ protocol: 'REDFISH', port: 443, mac: '02:00:5e:20:00:01', fingerprint: PIN, systemPath: '' })
    // Whoever may not use credentials can change what does not send the password elsewhere.
    await setNodeBmc(ours.operator, { nodeId, systemPath: '/redfish/v1/Systems/Blade2' })
    expect(await bmcOf(nodeId)).toMatchObject({ id: bmc.id, fingerprint: PIN, systemPath: '/redfish/v1/Systems/Blade2' })
    await expect(removeNodeBmc(ours.operator, { nodeId })).resolves.toMatchObject({ id: nodeId })
    expect(await bmcOf(nodeId)).toBeUndefined()
    await expect(removeNodeBmc(ours.operator, { nodeId })).rejects.toThrow(/has no BMC/)
  })

  test('at another address is another one: its certificate is not trusted', async () => {
    const { id: nodeId } = await aNode()
    const before = await setNodeBmc(ours.admin, {
      nodeId,
      address: address(),
      credentialId,
      fingerprint: PIN,
      mac: '02005e200002',
    })
    const after = await setNodeBmc(ours.admin, { nodeId, address: address() })
    expect(after).toMatchObject({ fingerprint: null, mac: null, credentialId })
    expect(after.id).not.toBe(before.id)
    const [, entry] = await t.runtime.db
      .select()
      .from(auditEntries)
      .where(eq(auditEntries.objectId, nodeId))
      .orderBy(auditEntries.id)
    expect(entry).toMatchObject({ action: 'node.set_bmc', details: { from: before.address, droppedFingerprint: PIN } })
    const ipmi = await setNodeBmc(ours.admin, { nodeId, protocol: 'IPMI' })
    expect(ipmi).toMatchObject({ port: 623, address: after.address, fingerprint: null })
  })

  test.each([
    [{ credentialId: undefined }, 'credentialId'],
    [{ address: undefined }, 'address'],
    [{ address: '10.8.0.1' }, 'credentialId'],
    [{ address: '127.0.0.1' }, 'address'],
    [{ address: '169.254.169.254' }, 'address'],
    [{ fingerprint: 'sha256:abc' }, 'fingerprint'],
    [{ caCertificate: 'none' }, 'caCertificate'],
    [{ protocol: 'IPMI' as const, fingerprint: PIN }, 'fingerprint'],
    [{ systemPath: '/redfish/v1/Systems/../Managers' }, 'systemPath'],
    [{ systemPath: 'https://10.7.0.9/redfish/v1/Systems/1' }, 'systemPath'],
  ])('rejects %j at %s', async (fields, path) => {
    const { id: nodeId } = await aNode()
    const input = { nodeId, address: '10.7.9.9', credentialId, ...fields } as Parameters<typeof setNodeBmc>[1]
    await expect(setNodeBmc(ours.admin, input)).rejects.toMatchObject({ issues: [{ path }] })
    expect(await bmcOf(nodeId)).toBeUndefined()
  })

  test('takes no credential of another kind, and none that the caller may not use', async () => {
    const { id: nodeId } = await aNode()
    const key = (await t.given.credential(ours.admin, 'SSH_KEY')).id
    await expect(setNodeBmc(ours.admin, { nodeId, address: address(), credentialId: key })).rejects.toMatchObject({
      issues: [{ path: 'credentialId' }],
    })
    await expect(setNodeBmc(ours.operator, { nodeId, address: address(), credentialId })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(setNodeBmc(ours.viewer, { nodeId, address: address(), credentialId })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const theirs = await t.given.tenant()
    await expect(setNodeBmc(theirs.admin, { nodeId, address: address(), credentialId })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('belongs to one node, or to several with a system path each', async () => {
    const [one, two] = [await aNode(), await aNode()]
    const at = address()
    await setNodeBmc(ours.admin, { nodeId: one.id, address: at, credentialId })
    const taken = setNodeBmc(ours.admin, { nodeId: two.id, address: at, credentialId })
    await expect(taken).rejects.toThrow(`The node ${one.name} (READY) already has the BMC ${at}.`)
    await setNodeBmc(ours.admin, { nodeId: two.id, address: at, credentialId, systemPath: '/redfish/v1/Systems/2' })
    expect(await bmcOf(two.id)).toMatchObject({ address: at })
  })

  test('of two nodes that take a BMC at once, one gets it', async () => {
    const [one, two] = [await aNode(), await aNode()]
    const at = address()
    const { won, lost } = await race(
      setNodeBmc(ours.admin, { nodeId: one.id, address: at, credentialId }),
      setNodeBmc(ours.admin, { nodeId: two.id, address: at, credentialId }),
    )
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })

  test('is exchanged with that of another node when both are given, with an audit entry each; all or none', async () => {
    const nodes = [await aNode(), await aNode(), await aNode()]
    const [one, two, three] = nodes as [ComputeNode, ComputeNode, ComputeNode]
    const [a, b] = [address(), address()]
    const systems = ['/redfish/v1/Systems/1', '/redfish/v1/Systems/2']
    const set = (...fields: object[]) =>
      setNodeBmcs(ours.admin, { nodes: fields.map((each, i) => ({ nodeId: nodes[i]!.id, ...each })) })
    await set({ address: a, credentialId, fingerprint: PIN }, { address: b, credentialId })
    await set({ address: b }, { address: a })
    expect(await bmcOf(one.id)).toMatchObject({ address: b, fingerprint: null })
    expect(await bmcOf(two.id)).toMatchObject({ address: a })
    await set(...systems.map((systemPath) => ({ address: a, systemPath })))
    await set(...systems.toReversed().map((systemPath) => ({ systemPath })))
    expect([await bmcOf(one.id), await bmcOf(two.id)]).toMatchObject([{ systemPath: systems[1] }, { systemPath: systems[0] }])
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, one.id))
    expect(entries.filter(({ action }) => action === 'node.set_bmc')).toMatchObject([
      { details: { address: a, fingerprint: PIN } },
      { details: { address: b, from: a, droppedFingerprint: PIN }, before: { address: a }, after: { address: b } },
      { details: { address: a, from: b } },
      { before: { systemPath: systems[0] }, after: { systemPath: systems[1] } },
    ])
    await expect(set({ mac: '02:00:5e:20:00:09' }, {}, { address: a, systemPath: systems[1], credentialId })).rejects.toThrow(
      'is given to two nodes',
    )
    await expect(
      setNodeBmcs(ours.admin, {
        nodes: [
          { nodeId: one.id, mac: '02:00:5e:20:00:09' },
          { nodeId: three.id, address: a, systemPath: systems[0], credentialId },
        ],
      }),
    ).rejects.toMatchObject({
      issues: [{ path: 'nodes.1.address', message: expect.stringContaining(`The node ${two.name} (READY) already has`) }],
    })
    await expect(removeNodeBmcs(ours.operator, { nodeIds: [one.id, three.id] })).rejects.toThrow(`${three.name} has no BMC`)
    expect(await bmcOf(one.id)).toMatchObject({ mac: null })
    await removeNodeBmcs(ours.operator, { nodeIds: [one.id, two.id] })
    expect(await bmcOf(two.id)).toBeUndefined()
  })

  test('keeps its credential from deletion', async () => {
    const { id: nodeId, name } = await aNode()
    const used = await t.given.credential(ours.admin, 'BMC')
    await setNodeBmc(ours.admin, { nodeId, address: address(), credentialId: used.id })
    await expect(deleteCredential(ours.admin, { id: used.id })).rejects.toThrow(`is used by the nodes ${name}`)
    await removeNodeBmc(ours.admin, { nodeId })
    await deleteCredential(ours.admin, { id: used.id })
  })

  test('comes with a new node, and from a CSV table', async () => {
    const bmc = { address: address(), credentialId }
    const node = await addNode(ours.admin, { name: 'withbmc', host: '10.9.8.7', bmc })
    expect(await bmcOf(node.id)).toMatchObject({ ...bmc, protocol: 'REDFISH', port: 443 })
    const report = await importNodes(ours.admin, {
      format: 'CSV',
      text: `name,host,bmc,bmc_mac,bmc_protocol,bmc_credential,bmc_fingerprint
bmc1,10.92.0.1,10.7.8.1,02-00-5E-21-00-01,redfish,bmcs,${PIN}
bmc2,10.92.0.2,10.7.8.1,,,bmcs,
bmc3,10.92.0.3,${bmc.address},,,bmcs,
bmc4,10.92.0.4,10.7.8.4,,,none,
bmc5,10.92.0.5,10.7.8.5,,,,
bmc6,10.92.0.6,,02-00-5E-21-00-06,,,
bmc7,10.92.0.7,10.99.8.7,,,bmcs,
bmc8,10.92.0.8,10.7.8.8,,smbus,bmcs,
bmc9,10.92.0.9,,,,,`,
    })
    expect(report.rows.map(({ state, issues }) => [state, ...issues.map(({ path }) => path)])).toEqual([
      ['ADDED'],
      ['INVALID', 'bmc'],
      ['INVALID', 'bmc'],
      ['INVALID', 'bmcCredential'],
      ['INVALID', 'bmcCredential'],
      ['INVALID', 'bmc'],
      ['INVALID', 'bmcCredential'],
      ['INVALID', 'bmcProtocol'],
      ['ADDED'],
    ])
    expect(await bmcOf(report.rows[0]!.node!.id)).toMatchObject({
      address: '10.7.8.1',
      fingerprint: PIN,
      mac: '02:00:5e:21:00:01',
    })
    const more = await importNodes(ours.admin, {
      format: 'CSV',
      text: `name,host,bmc,bmc_credential,bmc_port,bmc_ca,bmc_system_path
more1,10.92.1.1,10.7.6.1,bmcs,8443,"${rootCertificates[0]}",/redfish/v1/Systems/1
more2,10.92.1.2,10.7.6.2,bmcs,70000,,
more3,10.92.1.3,10.7.6.3,bmcs,,,/redfish/v1/Managers/1
more4,10.92.1.4,10.7.6.4,bmcs,x,none,
more5,10.92.1.5,,,443,,`,
    })
    expect(more.rows.map(({ state, issues }) => [state, ...issues.map(({ path }) => path)])).toEqual([
      ['ADDED'],
      ['INVALID', 'bmcPort'],
      ['INVALID', 'bmcSystemPath'],
      ['INVALID', 'bmcPort', 'bmcCa'],
      ['INVALID', 'bmc'],
    ])
    expect(await bmcOf(more.rows[0]!.node!.id)).toMatchObject({
      ...{ port: 8443, systemPath: '/redfish/v1/Systems/1', caCertificate: expect.stringContaining('BEGIN CERTIFICATE') },
    })
    const nodes = await selectNodes(ours.operator, 'bmc:10.7.8.*')
    expect(nodes.map(({ name }) => name)).toEqual(['bmc1'])
    const queried = await selectNodes(ours.operator, '{bmc = 10.7.8.1 and bmc.protocol = redfish and bmc.mac ~ "*:01"}')
    expect(queried.map(({ name }) => name)).toEqual(['bmc1'])
  })
})
