import { X509Certificate } from 'node:crypto'
import { computeNodes, setNodeBmc, updateNode } from '@muster/core/nodes'
import { cancelBmcDiscovery, discoverBmcs } from '@muster/core/power'
import { schema } from '@muster/core/registry'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { type RedfishEmulator, startRedfishEmulator } from '@muster/lab'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createBmcLogins } from '../redfish/open-driver.ts'
import { createCertificate } from '../testing/slurmrestd.ts'
import { bmcDiscoveryHandler } from './bmc-discovery.ts'

const { bmcDiscoveries, foundBmcs } = schema
let t: TestRuntime
let ours: TenantFixture
let bmc: RedfishEmulator
let certificate: { key: string; cert: string }
let credentialId: string
beforeAll(async () => {
  t = await testRuntime()
  certificate = createCertificate()
})
afterAll(() => t.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  credentialId = (await t.given.credential(ours.admin, 'BMC')).id
  bmc = await startRedfishEmulator({ certificate, systems: 2 })
})
afterEach(() => bmc.close())

async function discover(more: Partial<Parameters<typeof discoverBmcs>[1]> = {}, localTargets = LOOPBACK) {
  const { id } = await discoverBmcs(ours.admin, { addresses: ['127.0.0.1-4'], port: bmc.port, ...more })
  const deps = { runtime: t.runtime, config: { LOCAL_TARGETS: localTargets }, workerId: 'w', logins: createBmcLogins() }
  await bmcDiscoveryHandler({ ...deps, stopping: new AbortController().signal })({ id, tenantId: ours.tenant.id })
  const [discovery] = await t.runtime.db.select().from(bmcDiscoveries).where(eq(bmcDiscoveries.id, id))
  const found = await t.runtime.db.select().from(foundBmcs).where(eq(foundBmcs.discoveryId, id)).orderBy(foundBmcs.systemPath)
  return { discovery: discovery!, found }
}
const fingerprint = () => new X509Certificate(certificate.cert).fingerprint256.replaceAll(':', '').toLowerCase()

it('finds products and certificates without a login', async () => {
  const { discovery, found } = await discover()
  expect(discovery).toMatchObject({ status: 'SUCCEEDED', addressCount: 4, probedCount: 4, foundCount: 1 })
  expect(found).toMatchObject([
    { address: '127.0.0.1', fingerprint: fingerprint(), product: 'Emulated Redfish Emulator', inventory: null, message: null },
  ])
  expect(bmc.requests).toEqual(['GET /redfish/v1/'])
})

it('sends no credential to a certificate that is not trusted', async () => {
  const { found } = await discover({ credentialId })
  expect(found).toMatchObject([
    { inventory: null, message: expect.stringMatching(/not trusted, so the credential was not sent/) },
  ])
  expect(bmc.requests.filter((line) => line.startsWith('POST'))).toEqual([])
})

it('reads systems behind a trusted certificate, and finds nodes by MAC, UUID and serial number; conflicts are for a person', async () => {
  const trusted = { credentialId, caCertificate: certificate.cert, addresses: ['127.0.0.1'] }
  const [one, two, three] = await t.given.fleet(ours.admin, { nodes: 3, prefix: 'd' })
  await updateNode(ours.admin, { id: one!.id, interfaces: [{ name: 'eth0', mac: bmc.systems[0]!.macs[0]! }] })
  const dmi = (serial: string, uuid: string) => ({ facts: sql`${JSON.stringify({ dmi: { serial, uuid } })}::jsonb` })
  await t.runtime.db
    .update(computeNodes)
    .set(dmi('EMU-2', bmc.systems[1]!.uuid.toUpperCase()))
    .where(eq(computeNodes.id, two!.id))
  const first = await discover(trusted)
  expect(first.found).toMatchObject([
    { systemPath: '/redfish/v1/Systems/1', nodeId: one!.id, matchedBy: 'MAC', conflict: null, inventory: { serial: 'EMU-1' } },
    { systemPath: '/redfish/v1/Systems/2', nodeId: two!.id, matchedBy: 'UUID, serial', conflict: null, reportedState: 'OFF' },
  ])
  expect(bmc.sessions.size).toBe(0)

  // The first has another BMC already, and a third node claims the serial number of the second.
  await setNodeBmc(ours.admin, { nodeId: one!.id, address: '10.7.0.1', credentialId })
  await t.runtime.db.update(computeNodes).set(dmi('EMU-2', 'x')).where(eq(computeNodes.id, three!.id))
  const second = await discover(trusted)
  expect(second.found).toMatchObject([
    { nodeId: one!.id, conflict: `The node ${one!.name} has the BMC 10.7.0.1. Change it there if it was replaced.` },
    { nodeId: null, conflict: expect.stringMatching(/^Several nodes match \(UUID: .*; serial: .*, .*\)\. Choose one\.$/) },
  ])
})

it('asks no local address that is not listed, and no more addresses than permitted', async () => {
  expect((await discover({}, [])).discovery).toMatchObject({ status: 'SUCCEEDED', foundCount: 0 })
  expect(bmc.requests).toEqual([])
  await expect(discover({ addresses: ['10.0.0.0/16'] })).rejects.toMatchObject({ issues: [{ path: 'addresses' }] })
  const theirs = await t.given.tenant()
  await expect(discoverBmcs(theirs.admin, { addresses: ['10.0.0.1'], credentialId })).rejects.toMatchObject({
    issues: [{ path: 'credentialId' }],
  })
  await expect(discoverBmcs(ours.operator, { addresses: ['10.0.0.1'] })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

it('ends when it is canceled', async () => {
  const { id } = await discoverBmcs(ours.admin, { addresses: ['127.0.0.0/25'], port: bmc.port })
  await cancelBmcDiscovery(ours.admin, { id })
  const deps = { runtime: t.runtime, config: { LOCAL_TARGETS: LOOPBACK }, workerId: 'w', logins: createBmcLogins() }
  await bmcDiscoveryHandler({ ...deps, stopping: new AbortController().signal })({ id, tenantId: ours.tenant.id })
  const [discovery] = await t.runtime.db.select().from(bmcDiscoveries).where(eq(bmcDiscoveries.id, id))
  expect(discovery).toMatchObject({ status: 'CANCELED', probedCount: 32 })
  await expect(cancelBmcDiscovery(ours.admin, { id })).rejects.toThrow(/has ended: CANCELED/)
})
