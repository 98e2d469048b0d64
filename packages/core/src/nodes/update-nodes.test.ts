import { asc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { auditEntries } from '../audit/tables.ts'
import { decommissionNode } from '../node-states/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { addNode } from './add-node.ts'
import { addNodes } from './add-nodes.ts'
import { computeNodes, nodeInterfaces } from './tables.ts'
import { updateNode } from './update-node.ts'
import { updateNodes } from './update-nodes.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  ours = await t.given.tenant()
})
afterAll(() => t.close())

const mac = (n: number) => `02:00:5e:00:00:0${n}`
const wired = (n: number) => [{ name: 'e0', mac: mac(n), isBoot: true }]
const three = () =>
  addNodes(ours.admin, { nodes: [1, 2, 3].map((n) => ({ name: `n${n}`, host: `10.0.0.${n}`, nid: n, interfaces: wired(n) })) })
const stored = () => ours.admin.db.select().from(computeNodes).orderBy(asc(computeNodes.name))
const lastEntry = async (id: string) => {
  const [entry] = (
    await ours.admin.db.select().from(auditEntries).where(eq(auditEntries.objectId, id)).orderBy(asc(auditEntries.id))
  ).slice(-1)
  const { action, objectName, details, before, after } = entry!
  return { action, objectName, details, before, after }
}

it('changes different fields of many nodes, and nothing else', async () => {
  const [a, b, c] = await three()
  const before = await stored()
  await updateNodes(ours.operator, {
    nodes: [
      { id: a!.id, rack: 'R1', labels: { k: 'v' } },
      { id: b!.id, host: '10.9.9.9' },
      { id: c!.id, nid: null, interfaces: [] },
    ],
  })
  const plain = (rows: object[]) => rows.map((row) => ({ ...row, updatedAt: null }))
  const expected = [
    { ...before[0]!, rack: 'R1', labels: { k: 'v' } },
    { ...before[1]!, host: '10.9.9.9' },
    { ...before[2]!, nid: null },
  ]
  expect(plain(await stored())).toEqual(plain(expected))
  expect((await ours.admin.db.select().from(nodeInterfaces)).map((row) => row.mac).sort()).toEqual([mac(1), mac(2)])
  expect(await lastEntry(b!.id)).toMatchObject({ details: { changed: ['host'], to: { host: '10.9.9.9' } } })
  expect(await lastEntry(c!.id)).toMatchObject({ details: { changed: ['interfaces', 'nid'], macs: { from: [mac(3)], to: [] } } })
})

it('audits like the verbs for one node', async () => {
  const hostKey = `ssh-ed25519 ${(await t.given.fleet(ours.admin))[0]!.hostKey!.split(' ')[1]}`
  const fields = { host: '10.0.0.9', nid: 9, tags: ['x'], labels: { a: '1' }, hostKey }
  const attempt = () => ({ ...ours.admin, attempt: {} })
  const one = await addNode(attempt(), { ...fields, name: 'one' })
  const [many] = await addNodes(attempt(), { nodes: [{ ...fields, name: 'many', nid: 10 }] })
  const alike = async (id: string) =>
    JSON.parse(
      JSON.stringify(await lastEntry(id), (key, value) =>
        /^(name|objectName|nid|hostKeyApprovedAt)$/.test(key) ? 'any' : value,
      ),
    )
  expect(await alike(many!.id)).toEqual(await alike(one.id))
  const change = { host: '10.0.0.8', rack: 'R', labels: {}, interfaces: wired(1) }
  await updateNode(attempt(), { id: one.id, ...change })
  const single = await alike(one.id)
  await updateNode(attempt(), { id: one.id, interfaces: [] })
  await updateNodes(attempt(), { nodes: [{ id: many!.id, ...change }] })
  expect(await alike(many!.id)).toEqual(single)
  expect(single).toMatchObject({
    before: { host: '10.0.0.9', rack: null },
    after: { host: '10.0.0.8', rack: 'R' },
  })
})

it('lets nodes exchange NIDs and MACs', async () => {
  const [a, b, c] = await three()
  await updateNodes(ours.operator, {
    nodes: [
      { id: a!.id, nid: 2, interfaces: wired(2) },
      { id: b!.id, nid: 1, interfaces: wired(1) },
    ],
  })
  expect((await stored()).map(({ nid }) => nid)).toEqual([2, 1, 3])
  const macs = new Map((await ours.admin.db.select().from(nodeInterfaces)).map(({ nodeId, mac }) => [nodeId, mac]))
  expect([a, b, c].map((node) => macs.get(node!.id))).toEqual([mac(2), mac(1), mac(3)])
})

it('changes nothing when one value is taken or invalid, and names the field', async () => {
  const [a, b] = await three()
  const before = await stored()
  const rejected = (second: object) =>
    expect(
      updateNodes(ours.operator, {
        nodes: [
          { id: a!.id, rack: 'R9' },
          { id: b!.id, ...second },
        ],
      }),
    ).rejects
  for (const [second, path] of [
    [{ nid: 3 }, 'nodes.1.nid'],
    [{ interfaces: wired(3) }, 'nodes.1.interfaces.0.mac'],
    [{ port: 0 }, 'nodes.1.port'],
    [{ credentialId: a!.id }, 'nodes.1.credentialId'],
    [{ id: a!.id }, 'nodes.1.id'],
  ] as const)
    await rejected(second).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path }] })
  await rejected({ nid: 1, name: 'n3' }).toMatchObject({ issues: [{ path: 'nodes.1.nid' }] })
  await rejected({ name: 'n3' }).toMatchObject({ code: 'CONFLICT' })
  expect(await stored()).toEqual(before)
})

it('finds nothing of another tenant, and no decommissioned node', async () => {
  const [a, b] = await three()
  const theirs = await t.given.tenant()
  const nodes = [{ id: a!.id, rack: 'R' }]
  await expect(updateNodes(theirs.admin, { nodes })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await decommissionNode(ours.admin, { id: b!.id })
  await expect(updateNodes(ours.admin, { nodes: [...nodes, { id: b!.id, rack: 'R' }] })).rejects.toMatchObject({
    code: 'CONFLICT',
  })
  expect((await stored()).map(({ rack }) => rack)).toEqual([null, null, null])
})

it('of two calls for one NID, one fails cleanly', async () => {
  const [a, b] = await three()
  const { won, lost } = await race(
    updateNodes(ours.operator, { nodes: [{ id: a!.id, nid: 77 }] }),
    updateNodes(ours.admin, { nodes: [{ id: b!.id, nid: 77 }] }),
  )
  expect([won.length, lost.length]).toEqual([1, 1])
  expect(lost[0]).toHaveProperty('code', expect.stringMatching(/^(CONFLICT|INVALID_INPUT)$/))
})
