import { decommissionNode } from '@muster/core/node-states'
import { computeNodes, nodeBmcs, setNodeBmc, updateNode } from '@muster/core/nodes'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bmcConflicts, identityConflicts } from './bmc-conflicts.ts'
import { recordBmcReading } from './record-bmc-reading.ts'
import type { BmcInventory } from './tables.ts'

const UUID = '00112233-4455-6677-8899-aabbccddeeff'
const nothing = { serial: null, uuid: null, macs: [] }

describe('identityConflicts', () => {
  it.each([
    ['nothing known', { serial: 'A-1234', uuid: UUID, macs: ['02:00:00:00:00:01'] }, nothing],
    ['nothing reported', nothing, { serial: 'A-1234', uuid: UUID, macs: ['02:00:00:00:00:01'] }],
    ['the same in other case', { ...nothing, serial: 'a-1234' }, { ...nothing, serial: 'A-1234' }],
    ['a UUID in the other byte order', { ...nothing, uuid: UUID }, { ...nothing, uuid: '33221100-5544-7766-8899-AABBCCDDEEFF' }],
    ['texts that are no serial number', { ...nothing, serial: 'To be filled by O.E.M.' }, { ...nothing, serial: 'A-1234' }],
    [
      'a node with InfiniBand addresses only',
      { ...nothing, macs: ['02:00:00:00:00:01'] },
      { ...nothing, macs: ['80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52'] },
    ],
    [
      'one common MAC',
      { ...nothing, macs: ['02:00:00:00:00:01', '02:00:00:00:00:02'] },
      { ...nothing, macs: ['02:00:00:00:00:02', '02:00:00:00:00:03'] },
    ],
  ])('has none with %s', (_title, reported, known) => expect(identityConflicts(reported, known)).toEqual([]))

  it('names each value that differs', () => {
    const reported = {
      serial: 'B-9999',
      uuid: UUID.replace('ff', '00'),
      macs: [1, 2, 3, 4, 5].map((n) => `02:00:00:00:00:0${n}`),
    }
    expect(identityConflicts(reported, { serial: 'A-1234', uuid: UUID, macs: ['02:00:00:00:00:0a'] })).toEqual([
      'The BMC reports the serial number B-9999; discovery found A-1234 on the node.',
      `The BMC reports the UUID ${reported.uuid}; discovery found ${UUID} on the node.`,
      'The BMC reports the MACs 02:00:00:00:00:01, 02:00:00:00:00:02, 02:00:00:00:00:03, 02:00:00:00:00:04 and 1 more; the node has 02:00:00:00:00:0a.',
    ])
  })
})

describe('bmcConflicts', () => {
  let t: TestRuntime
  let ours: TenantFixture
  let nodes: { id: string; name: string }[]
  beforeAll(async () => {
    t = await testRuntime()
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    ours = await t.given.tenant()
    nodes = await t.given.fleet(ours.admin, { nodes: 2, prefix: 'c' })
    const credentialId = (await t.given.credential(ours.admin, 'BMC')).id
    await setNodeBmc(ours.admin, { nodeId: nodes[0]!.id, address: '10.7.0.1', credentialId }, LOOPBACK)
  })
  const worker = () => ({ ...ours.admin, actor: { kind: 'worker', id: 'w', name: 'w' } }) as unknown as typeof ours.admin
  const discovered = (i: number, serial: string, uuid: string, macs: string[] = []) =>
    t.runtime.db
      .update(computeNodes)
      .set({ facts: sql`${JSON.stringify({ dmi: { serial, uuid }, nics: macs.map((mac) => ({ mac })) })}::jsonb` })
      .where(eq(computeNodes.id, nodes[i]!.id))
  async function read(inventory: Partial<BmcInventory>) {
    const [bmc] = await t.runtime.db.select().from(nodeBmcs).where(eq(nodeBmcs.nodeId, nodes[0]!.id))
    const details = { inventory: { ...nothing, ...inventory } as BmcInventory, sensors: [], events: [] }
    await recordBmcReading(worker(), bmc!.id, { state: 'ON', details })
  }
  const conflicts = async (ctx = ours.viewer) =>
    (
      await bmcConflicts(
        ctx,
        nodes.map(({ id }) => id),
      )
    ).get(nodes[0]!.id)

  it('compares a reading with discovery and interfaces, and moves nothing', async () => {
    expect(await conflicts()).toBeUndefined()
    await discovered(0, 'A-1234', UUID.toUpperCase(), ['02:00:00:00:00:01'])
    await read({ serial: 'A-1234', uuid: UUID, macs: ['02:00:00:00:00:01'] })
    expect(await conflicts()).toBeUndefined()
    await read({ serial: 'B-9999', uuid: UUID, macs: ['02:00:00:00:00:01'] })
    expect(await conflicts()).toEqual(['The BMC reports the serial number B-9999; discovery found A-1234 on the node.'])
    const [bmc] = await t.runtime.db.select().from(nodeBmcs).where(eq(nodeBmcs.nodeId, nodes[0]!.id))
    expect(bmc).toMatchObject({ address: '10.7.0.1' })
  })

  it('names the other node that has the MAC, serial number or UUID, also before the first discovery', async () => {
    await updateNode(ours.admin, { id: nodes[1]!.id, interfaces: [{ name: 'eth0', mac: '02:00:00:00:00:02' }] })
    await discovered(1, 'B-9999', '33221100-5544-7766-8899-aabbccddeeff')
    await read({ serial: 'B-9999', uuid: UUID, macs: ['02:00:00:00:00:02'] })
    const other = nodes[1]!.name
    expect(await conflicts()).toEqual([
      `The BMC reports the MAC 02:00:00:00:00:02, which is an interface of the node ${other}.`,
      `The BMC reports the serial number B-9999, which discovery found on the node ${other}.`,
      `The BMC reports the UUID ${UUID}, which discovery found on the node ${other}.`,
    ])
    await decommissionNode(ours.admin, { id: nodes[1]!.id })
    expect(await conflicts()).toBeUndefined()
  })

  it('never names nodes of another tenant', async () => {
    const theirs = await t.given.tenant()
    const [foreign] = await t.given.fleet(theirs.admin, { nodes: 1 })
    await updateNode(theirs.admin, { id: foreign!.id, interfaces: [{ name: 'eth0', mac: '02:00:00:00:00:02' }] })
    await read({ macs: ['02:00:00:00:00:02'] })
    expect(await conflicts()).toBeUndefined()
    expect(await conflicts(theirs.viewer)).toBeUndefined()
  })
})
