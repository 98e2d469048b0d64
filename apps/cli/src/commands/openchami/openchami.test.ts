import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createNodeGroup, setNodeGroupMembers } from '../../../../../packages/core/src/groups/index.ts'
import { addNode } from '../../../../../packages/core/src/nodes/index.ts'
import type { TenantFixture } from '../../../../../packages/core/src/testing/index.ts'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

// Another tenant of Muster is the SMD: its endpoints are tested with OpenCHAMI's own CLI. real-services.long.test.ts uses the real ones.

let t: TestApi
let ours: TenantFixture
beforeAll(async () => {
  t = await startTestApi({ openchami: { publicTenant: null } })
  ours = await t.given.tenant()
  const theirs = await t.given.tenant()
  await t.signIn(ours.admin)
  vi.stubEnv('OPENCHAMI_TOKEN', await t.tokenOf(theirs.admin))
  const nodes = []
  for (const i of [1, 2])
    nodes.push(
      await addNode(ours.admin, {
        ...{ name: `node${i}`, host: `10.0.0.${i}`, xname: `x1000c0s${i}b0n0`, nid: i },
        interfaces: [
          { name: 'eth0', mac: `02:00:00:00:00:0${i}`, isBoot: true, addresses: [{ address: `10.0.0.${i}` }] },
          { name: 'ib0', mac: `80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:0${i}` },
        ],
      }),
    )
  await addNode(ours.admin, { name: 'without-xname', host: '10.0.0.9' })
  const group = await createNodeGroup(ours.admin, { name: 'row_a', displayName: 'row-a', description: 'Row A' })
  await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: nodes.map(({ id }) => id) })
})
afterAll(() => t?.close())

/** Changes the SMD. */
const call = async (method: string, path: string, body: object) => {
  const authorization = `Bearer ${process.env.OPENCHAMI_TOKEN}`
  const response = await fetch(`${t.apiUrl}/hsm/v2${path}`, { method, headers: { authorization }, body: JSON.stringify(body) })
  expect(response.status).toBeLessThan(300)
}
const smd = (words: string) => muster(`openchami ${words} --smd ${t.apiUrl}`)

it('shows what is missing, writes it after a confirmation, and finds no difference then', async () => {
  const { code, out } = await smd('diff')
  expect({ code, lines: out.trimEnd().split('\n') }).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^OBJECT +STATE +FIELDS$/),
      expect.stringMatching(/^component x1000c0s1b0n0 +MISSING +NID: - -> 1; Role: - -> Compute$/),
      expect.stringMatching(/^component x1000c0s2b0n0 +MISSING /),
      expect.stringMatching(/^group row-a +MISSING +description: - -> Row A; members: - -> x1000c0s1b0n0 x1000c0s2b0n0$/),
      expect.stringMatching(
        /^interface 02:00:00:00:00:01 +MISSING +ComponentID: - -> x1000c0s1b0n0; IPAddresses: - -> 10.0.0.1$/,
      ),
      expect.stringMatching(/^interface 02:00:00:00:00:02 +MISSING /),
    ],
  })
  expect(await smd('push')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect((await smd('diff')).out).toBe(out)
  expect(await smd('push --yes')).toMatchObject({ code: 0, err: 'Wrote 5 objects.\n' })
  expect(await smd('diff')).toEqual({ code: 0, out: '', err: 'No differences.\n' })
})

it('reports drift by field, repairs it, and leaves what only SMD has', async () => {
  await call('PATCH', '/State/Components/BulkNID', { Components: [{ ID: 'x1000c0s1b0n0', NID: 77 }] })
  await call('PUT', '/groups/row-a/members', { ids: ['x1000c0s2b0n0'] })
  await call('PATCH', '/Inventory/EthernetInterfaces/020000000001', { IPAddresses: [{ IPAddress: '10.9.9.9' }] })
  await call('POST', '/State/Components', { Components: [{ ID: 'x1000c0s9b0n0', NID: 9 }] })
  const { out } = await smd('diff -o json')
  expect(JSON.parse(out)).toEqual([
    { object: 'component x1000c0s1b0n0', state: 'DIFFERENT', fields: [{ field: 'NID', theirs: 77, ours: 1 }] },
    { object: 'component x1000c0s9b0n0', state: 'EXTRA', fields: [] },
    {
      ...{ object: 'group row-a', state: 'DIFFERENT' },
      fields: [{ field: 'members', theirs: ['x1000c0s2b0n0'], ours: ['x1000c0s1b0n0', 'x1000c0s2b0n0'] }],
    },
    {
      ...{ object: 'interface 02:00:00:00:00:01', state: 'DIFFERENT' },
      fields: [{ field: 'IPAddresses', theirs: ['10.9.9.9'], ours: ['10.0.0.1'] }],
    },
  ])
  expect((await smd('push --yes')).err).toBe('Wrote 3 objects.\n')
  expect((await smd('diff')).out).toMatch(/^component x1000c0s9b0n0 +EXTRA +-$/m)
})

it('names the service that does not answer or refuses', async () => {
  expect(await muster('openchami diff --smd http://127.0.0.1:64999')).toMatchObject({
    code: 6,
    err: expect.stringContaining(
      'http://127.0.0.1:64999/hsm/v2/State/Components?type=Node does not answer: connect ECONNREFUSED',
    ),
  })
  expect(await muster('openchami diff')).toMatchObject({ code: 2, err: expect.stringContaining('--smd or --bss') })
  vi.stubEnv('OPENCHAMI_TOKEN', 'wrong')
  expect(await smd('diff')).toMatchObject({ code: 3, err: expect.stringContaining('answered 401') })
})
