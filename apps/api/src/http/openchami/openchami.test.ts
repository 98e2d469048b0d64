import { createCredential } from '@muster/core/credentials'
import { updateNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { and, eq } from 'drizzle-orm'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deriveJwtKey } from '../../sign-in/jwt.ts'
import { AUTH_SECRET, testApi } from '../../testing/api.ts'
import { mutate } from '../../testing/mutate.ts'
import { type HttpServer, serveHttp } from '../server.ts'

// Requests have the bodies that OpenCHAMI's CLI sends; ochami.long.test.ts uses the CLI itself.

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let ours: TenantFixture
let others: TenantFixture
beforeAll(async () => {
  const openchami = { publicTenant: 'Public' }
  t = await testApi({ openchami })
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  ours = await t.given.tenant()
  others = await t.given.tenant()
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
})

// biome-ignore lint/suspicious/noExplicitAny: the shape of the body is what the tests check
type Answer = { status: number; body: any }
const BASE = '/hsm/v2'

async function call(as: TenantFixture['admin'] | string | null, request: string, body?: unknown): Promise<Answer> {
  const [method, path] = request.split(' ') as [string, string]
  const token = as === null ? null : typeof as === 'string' ? as : await t.tokenOf(as)
  const response = await fetch(`http://127.0.0.1:${server.port}${BASE}${path}`, {
    method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : null }
}
const ask = (request: string, body?: unknown) => call(ours.admin, request, body)
const node = (i: number) => `x1000c0s${i}b0n0`
const component = (i: number) => ({ ID: node(i), Type: 'Node', State: 'On', Enabled: true, Role: 'Compute', Arch: 'X86', NID: i })

test('adds components, reads them by xname and NID, changes and removes them', async () => {
  expect(await ask('POST /State/Components', { Components: [component(1), component(2)] })).toEqual({ status: 204, body: null })
  const one = {
    ...{ ID: node(1), Type: 'Node', State: 'Populated', Flag: 'OK', Enabled: true, Role: 'Compute', NID: 1 },
    ...{ NetType: 'Ethernet', Arch: 'UNKNOWN', Class: 'River' },
  }
  expect(await ask(`GET /State/Components/${node(1).toUpperCase()}`)).toEqual({ status: 200, body: one })
  expect((await ask('GET /State/Components/ByNID/1')).body).toEqual(one)
  expect((await ask('GET /State/Components?type=node&nid=2')).body.Components.map(({ ID }: { ID: string }) => ID)).toEqual([
    node(2),
  ])
  expect((await ask('GET /State/Components?state=Ready')).body).toEqual({ Components: [] })
  // Both again: nothing changes. Then a NID and the state.
  const before = await t.runtime.db.$count(schema.auditEntries, eq(schema.auditEntries.tenantId, ours.tenant.id))
  expect((await ask('POST /State/Components', { Components: [component(1), component(2)] })).status).toBe(204)
  expect(await t.runtime.db.$count(schema.auditEntries, eq(schema.auditEntries.tenantId, ours.tenant.id))).toBe(before)
  const nids = { Components: [{ ID: node(1), NID: '17' }] }
  expect((await ask('PATCH /State/Components/BulkNID', nids)).status).toBe(204)
  expect((await ask(`PUT /State/Components/${node(1)}`, { Component: { Enabled: false, Role: 'Management' } })).status).toBe(204)
  expect((await ask('GET /State/Components/ByNID/17')).body).toMatchObject({ Enabled: false, Role: 'Management', State: 'On' })
  expect(await ask(`DELETE /State/Components/${node(2)}`)).toEqual({ status: 200, body: { code: 0, message: 'deleted 1 entry' } })
  expect((await ask(`GET /State/Components/${node(2)}`)).status).toBe(404)
  expect((await ask('DELETE /State/Components')).status).toBe(400)
})

test('adds all components or none, and says which one is wrong', async () => {
  const Components = [component(20), { ...component(21), NID: 17 }]
  const { status, body } = await ask('POST /State/Components', { Components })
  expect({ status, title: body.title }).toEqual({ status: 400, title: 'Bad Request' })
  expect(body.detail).toContain(node(21))
  expect((await ask(`GET /State/Components/${node(20)}`)).status).toBe(404)
  expect((await ask('POST /State/Components', { Components: [{ ...component(20), ID: 'x1' }] })).status).toBe(400)
  expect((await ask('POST /State/Components', { Components: [{ ...component(20), Type: 'NodeBMC' }] })).body.detail).toContain(
    'NodeBMC',
  )
  expect((await ask('PATCH /State/Components/BulkNID', { Components: [{ ID: node(20), NID: 9 }] })).status).toBe(404)
  expect((await ask('POST /State/Components', undefined)).status).toBe(400)
})

test('adds interfaces: the first is the boot interface, and its address the host of the node', async () => {
  await ask('POST /State/Components', { Components: [component(3), component(4)] })
  const first = {
    ...{
      ID: 'de:ad:be:ee:ee:f1',
      ComponentID: node(3),
      Type: 'Node',
      Description: 'Interface 0 for nc3',
      MACAddress: 'DE:AD:BE:EE:EE:F1',
    },
    IPAddresses: [{ IPAddress: '172.16.0.3', Network: 'internal' }],
  }
  const uri = { URI: `${BASE}/Inventory/EthernetInterfaces/deadbeeeeef1` }
  expect(await ask('POST /Inventory/EthernetInterfaces', first)).toEqual({ status: 201, body: uri })
  const second = { ...first, MACAddress: 'de:ad:be:ee:ee:f2', Description: 'hsn0', IPAddresses: [] }
  expect((await ask('POST /Inventory/EthernetInterfaces', second)).status).toBe(201)
  expect((await ask('POST /Inventory/EthernetInterfaces', first)).status).toBe(409)
  expect((await ask('POST /Inventory/EthernetInterfaces', { ...second, ComponentID: node(99) })).status).toBe(409)
  const unknown = { ...second, MACAddress: 'de:ad:be:ee:ee:f3', ComponentID: node(99) }
  expect((await ask('POST /Inventory/EthernetInterfaces', unknown)).body.detail).toBe(
    `There is no node with the xname ${node(99)}. Add the component first.`,
  )
  const of = { where: { xname: node(3), tenantId: ours.tenant.id }, with: { interfaces: true } } as const
  expect(await t.runtime.db.query.computeNodes.findFirst(of)).toMatchObject({
    host: '172.16.0.3',
    interfaces: expect.arrayContaining([
      expect.objectContaining({ name: 'eth0', mac: 'de:ad:be:ee:ee:f1', isBoot: true }),
      expect.objectContaining({ name: 'hsn0', mac: 'de:ad:be:ee:ee:f2', isBoot: false }),
    ]),
  })
  const { id, interfaces } = (await t.runtime.db.query.computeNodes.findFirst(of))!
  const entered = interfaces.map(({ name, mac, isBoot, addresses }) => ({ name, mac, isBoot, addresses }))
  await updateNode(ours.operator, {
    id,
    interfaces: [...entered, { name: 'ib0', mac: '80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52' }],
  })
  expect((await ask(`GET /Inventory/EthernetInterfaces?ComponentID=${node(3)}`)).body).toHaveLength(2)
  const byAddress = await ask('GET /Inventory/EthernetInterfaces?IPAddress=172.16.0.3')
  expect(byAddress.body).toMatchObject([{ ID: 'deadbeeeeef1', ComponentID: node(3), MACAddress: 'de:ad:be:ee:ee:f1' }])
  const patched = await ask('PATCH /Inventory/EthernetInterfaces/deadbeeeeef2', {
    ...{ ID: 'deadbeeeeef2', ComponentID: node(4), Description: '', MACAddress: '', IPAddresses: [{ IPAddress: '172.16.0.4' }] },
  })
  expect(patched).toMatchObject({ status: 200, body: { ComponentID: node(4), IPAddresses: [{ IPAddress: '172.16.0.4' }] } })
  expect((await ask('GET /Inventory/EthernetInterfaces/deadbeeeeef2/IPAddresses')).body).toEqual([{ IPAddress: '172.16.0.4' }])
  expect((await ask('DELETE /Inventory/EthernetInterfaces/deadbeeeeef2')).status).toBe(200)
  expect((await ask('GET /Inventory/EthernetInterfaces/deadbeeeeef2')).status).toBe(404)
})

test('sets the BMCs of nodes, with the credential openchami', async () => {
  await ask('POST /State/Components', { Components: [component(40), { ...component(41), ID: 'x1000c0s40b0n1' }] })
  const bmc = {
    ...{ ID: 'x1000c0s40b0', Type: 'NodeBMC', FQDN: 'x1000c0s40b0', IPAddress: '172.16.1.40', MACAddr: '02:00:00:00:0B:40' },
    Systems: [0, 1].map((i) => ({
      uri: `https://172.16.1.40/redfish/v1/Systems/Node${i}`,
      ethernet_interfaces: [{ name: `x1000c0s40b0n${i}`, mac: `02:00:00:00:40:0${i}`, ip: `172.16.0.4${i}` }],
    })),
  }
  expect((await ask('POST /Inventory/RedfishEndpoints', bmc)).body.detail).toContain('needs a credential')
  await createCredential(ours.admin, {
    name: 'openchami',
    kind: 'BMC',
    username: 'root',
    password: 'a password',
    allowedHosts: ['172.16.1.0/24'],
  })
  const URI = `${BASE}/Inventory/RedfishEndpoints/x1000c0s40b0`
  expect(await ask('POST /Inventory/RedfishEndpoints', bmc)).toEqual({ status: 201, body: [{ URI }] })
  expect((await ask('POST /Inventory/RedfishEndpoints', bmc)).status).toBe(409)
  const shown = { ID: 'x1000c0s40b0', Type: 'NodeBMC', FQDN: '172.16.1.40', MACAddr: '02:00:00:00:0b:40', User: '', Password: '' }
  expect((await ask('GET /Inventory/RedfishEndpoints?id=x1000c0s40b0')).body.RedfishEndpoints).toMatchObject([shown])
  const rows = await t.runtime.db.select().from(schema.nodeBmcs).where(eq(schema.nodeBmcs.tenantId, ours.tenant.id))
  expect(rows.map(({ systemPath }) => systemPath).sort()).toEqual(['/redfish/v1/Systems/Node0', '/redfish/v1/Systems/Node1'])
  expect((await ask('GET /Inventory/EthernetInterfaces?ComponentID=x1000c0s40b0n1')).body).toMatchObject([
    { MACAddress: '02:00:00:00:40:01', IPAddresses: [{ IPAddress: '172.16.0.41' }] },
  ])
  const endpoint = {
    ...{ ID: 'x1000c0s40b0n1', Type: 'Node', RedfishType: 'ComputerSystem', OdataID: '/redfish/v1/Systems/Node1' },
    ...{ RedfishEndpointID: 'x1000c0s40b0', RedfishURL: '172.16.1.40/redfish/v1/Systems/Node1', MACAddr: '02:00:00:00:40:01' },
  }
  expect((await ask('GET /Inventory/ComponentEndpoints?redfish_ep=x1000c0s40b0&id=x1000c0s40b0n1')).body).toEqual({
    ComponentEndpoints: [expect.objectContaining(endpoint)],
  })
  expect((await ask('GET /Inventory/ComponentEndpoints')).body.ComponentEndpoints).toHaveLength(2)
  expect((await ask('GET /Inventory/ComponentEndpoints/X1000C0S40B0N1')).body).toMatchObject(endpoint)
  expect((await ask('GET /Inventory/ComponentEndpoints/x1000c0s99b0n0')).status).toBe(404)
  expect((await ask('DELETE /Inventory/ComponentEndpoints')).status).toBe(400)
  expect((await ask('DELETE /Inventory/ComponentEndpoints/x1000c0s40b0n1')).status).toBe(200)
  expect((await ask('GET /Inventory/ComponentEndpoints')).body.ComponentEndpoints).toHaveLength(1)
  expect((await ask('POST /Inventory/RedfishEndpoints', { ...bmc, ID: 'x1000c0s40b0' })).status).toBe(409)
  const moved = await ask('PUT /Inventory/RedfishEndpoints/x1000c0s40b0', { ...bmc, IPAddress: '172.16.1.41' })
  expect(moved).toMatchObject({ status: 200, body: { ID: 'x1000c0s40b0', IPAddress: '172.16.1.41' } })
  expect((await ask('POST /Inventory/RedfishEndpoints', { ...bmc, User: 'root' })).status).toBe(400)
  expect((await ask('POST /Inventory/RedfishEndpoints', { ...bmc, ID: 'x1000c0s99b0' })).status).toBe(404)
  expect((await ask('DELETE /Inventory/RedfishEndpoints/x1000c0s40b0')).status).toBe(200)
  expect((await ask('GET /Inventory/RedfishEndpoints')).body).toEqual({ RedfishEndpoints: [] })
})

test('creates groups with labels that are no names of groups, and changes their members', async () => {
  await ask('POST /State/Components', { Components: [component(5), component(6)] })
  const group = { label: 'compute-a', description: 'Row A', exclusiveGroup: 'rows', members: { ids: [node(5)] } }
  expect(await ask('POST /groups', group)).toEqual({ status: 201, body: [{ URI: `${BASE}/groups/compute-a` }] })
  expect((await ask('GET /groups/compute-a')).body).toEqual(group)
  expect((await ask('POST /groups', group)).status).toBe(409)
  expect((await ask('POST /groups', { ...group, label: 'b', tags: ['t'] })).body.detail).toContain('tags')
  // A set is exclusive.
  expect((await ask('POST /groups', { label: 'compute-b', exclusiveGroup: 'rows', members: { ids: [node(5)] } })).status).toBe(
    400,
  )
  expect((await ask('GET /groups/labels')).body).toEqual(['compute-a'])
  expect((await ask('POST /groups/compute-a/members', { id: node(6) })).body).toEqual([
    { URI: `${BASE}/groups/compute-a/members/${node(6)}` },
  ])
  expect((await ask('POST /groups/compute-a/members', { id: node(6) })).status).toBe(409)
  expect((await ask(`GET /memberships?id=${node(6)}`)).body).toEqual([
    { id: node(6), groupLabels: ['compute-a'], partitionName: '' },
  ])
  expect((await ask(`DELETE /groups/compute-a/members/${node(5)}`)).status).toBe(200)
  expect((await ask(`DELETE /groups/compute-a/members/${node(5)}`)).status).toBe(404)
  expect((await ask('PUT /groups/compute-a/members', { ids: [node(5)] })).status).toBe(201)
  expect((await ask('GET /groups/compute-a/members')).body).toEqual({ ids: [node(5)] })
  expect((await ask('PATCH /groups/compute-a', { description: 'Row B' })).status).toBe(204)
  expect((await ask('GET /groups?group=compute-a')).body).toMatchObject([{ description: 'Row B' }])
  expect((await ask('DELETE /groups/compute-a')).status).toBe(200)
  expect((await ask('GET /groups/compute-a')).status).toBe(404)
})

test('needs a token, shows only its tenant, and checks its permissions', async () => {
  await ask('POST /State/Components', { Components: [component(7)] })
  expect((await call(null, 'GET /State/Components')).status).toBe(401)
  expect((await call('mst_wrong', 'GET /State/Components')).status).toBe(401)
  expect((await call(others.admin, 'GET /State/Components')).body).toEqual({ Components: [] })
  expect((await call(others.admin, `DELETE /State/Components/${node(7)}`)).status).toBe(404)
  expect((await call(ours.viewer, `GET /State/Components/${node(7)}`)).status).toBe(200)
  const refused = await call(ours.viewer, 'POST /State/Components', { Components: [component(8)] })
  expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('node:write') } })
  const [entry] = await t.runtime.db
    .select()
    .from(schema.auditEntries)
    .where(and(eq(schema.auditEntries.tenantId, ours.tenant.id), eq(schema.auditEntries.outcome, 'denied')))
  expect(entry).toMatchObject({ action: 'node.update', outcome: 'denied' })
  expect(await call(null, 'PUT /State/Components')).toMatchObject({ status: 405 })
  expect((await call(null, 'GET /service/ready')).body).toEqual({ code: 0, message: 'HSM is healthy' })
})

test('lets everybody read the tenant that the installation names, and nobody write it', async () => {
  const { admin, tenant } = await t.given.tenant()
  await call(admin, 'POST /State/Components', { Components: [component(1)] })
  await t.runtime.db.update(schema.tenants).set({ name: 'Public' }).where(eq(schema.tenants.id, tenant.id))
  const { body } = await call(null, 'GET /State/Components')
  expect(body.Components.map(({ ID }: { ID: string }) => ID)).toEqual([node(1)])
  expect((await call(null, `DELETE /State/Components/${node(1)}`)).status).toBe(401)
  // A wrong token is not the same as none.
  expect((await call('mst_wrong', 'GET /State/Components')).status).toBe(401)
})

test('accepts the JWT of a token until the token is revoked', async () => {
  const input = { name: 'ochami', role: 'operator' }
  const { secret, jwt, apiToken } = await mutate(t, ours.admin, 'createApiToken', 'secret jwt apiToken { id }', input)
  const { payload } = await jwtVerify(jwt, deriveJwtKey(AUTH_SECRET))
  expect(payload.exp! * 1000).toBeGreaterThan(Date.now() + 89 * 86_400_000)
  expect(jwt).not.toContain(secret)
  expect((await call(jwt, 'POST /State/Components', { Components: [component(30)] })).status).toBe(204)
  expect((await call(`${jwt.slice(0, -3)}abc`, 'GET /State/Components')).status).toBe(401)
  await mutate(t, ours.admin, 'revokeApiToken', 'apiToken { id }', { id: apiToken.id })
  expect((await call(jwt, 'GET /State/Components')).status).toBe(401)
})

test('is off unless the installation enables it', async () => {
  const off = await testApi()
  const server = await serveHttp(off.api, { host: '127.0.0.1', port: 0 })
  const { status } = await fetch(`http://127.0.0.1:${server.port}${BASE}/service/ready`)
  expect(status).toBe(404)
  await server.stop()
  await off.close()
})
