import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createNodeGroup, setNodeGroupMembers } from '../groups/index.ts'
import { computeNodes } from '../nodes/index.ts'
import { type ComputeNode, nodeInterfaces } from '../nodes/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { foldHostlist } from './hostlist.ts'
import { selectNodes } from './select-nodes.ts'

let t: TestRuntime
let ours: TenantFixture
let nodes: ComputeNode[]
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  nodes = await t.given.fleet(ours.operator, {
    nodes: 6,
    accelerators: 1,
    with: (i) =>
      [
        { tags: ['a', 'b'], xname: 'x1000c0s0b0n0', nid: 0 },
        { tags: ['b'], xname: 'x1000c0s1b0n0', nid: 64 },
        { unreachableSince: new Date() },
        { maintenanceAt: new Date() },
        { xname: 'x1000c1s0b0n0', nid: 65, rack: 'A1' },
        { decommissionedAt: new Date() },
      ][i]!,
  })
  await t.given.fleet(ours.operator, { nodes: 2, prefix: 'cpu_' })
  await t.runtime.db.insert(nodeInterfaces).values([
    { tenantId: ours.operator.tenantId, nodeId: nodes[0]!.id, name: 'eth0', mac: '02:00:5e:10:00:01', isBoot: true },
    { tenantId: ours.operator.tenantId, nodeId: nodes[0]!.id, name: 'eth1', mac: '02:00:5e:20:00:01', position: 1 },
    { tenantId: ours.operator.tenantId, nodeId: nodes[1]!.id, name: 'eth0', mac: '02:00:5e:10:00:02', isBoot: true },
    {
      tenantId: ours.operator.tenantId,
      nodeId: nodes[2]!.id,
      name: 'ib0',
      mac: '80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52',
    },
  ])
  const group = await createNodeGroup(ours.operator, { name: 'room' })
  await setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: [nodes[0]!.id, nodes[3]!.id, nodes[5]!.id] })
  const other = await t.given.tenant()
  await t.given.fleet(other.operator, { nodes: 3, prefix: 'other' })
})
afterAll(() => t.close())

const selected = async (limit: string) => foldHostlist((await selectNodes(ours.operator, limit)).map((n) => n.name))

test.each([
  ['all', 'cpu_[001-002],gpu[001-005]'],
  ['gpu001', 'gpu001'],
  ['gpu[001-003]', 'gpu[001-003]'],
  ['gpu*', 'gpu[001-005]'],
  ['gpu00?', 'gpu[001-005]'],
  ['cpu_*', 'cpu_[001-002]'],
  ['*2', 'cpu_002,gpu002'],
  ['@room', 'gpu[001,004]'],
  ['tag:b', 'gpu[001-002]'],
  ['tag:nobody', ''],
  ['status:unreachable', 'gpu003'],
  ['status:READY, status:MAINTENANCE', 'cpu_[001-002],gpu[001-002,004-005]'],
  ['vendor:NVIDIA', 'gpu[001-005]'],
  ['vendor:amd', ''],
  ['xname:X1000c0*', 'gpu[001-002]'],
  ['xname:x1000c?s0b0n0', 'gpu[001,005]'],
  ['xname:x1000c0s[00-01]b0n0', 'gpu[001-002]'],
  ['nid:0-64', 'gpu[001-002]'],
  ['nid:[0,65-99]', 'gpu[001,005]'],
  ['nid:9999999999', ''],
  ['xname:x1000*,!nid:64', 'gpu[001,005]'],
  ['{xname ~ x1000c0* and nid > 0 or rack = A1}', 'gpu[002,005]'],
  ['mac:02:00:5E:10:00:02', 'gpu002'],
  ['mac:02-00-5e-20-00-01', 'gpu001'],
  ['mac:0200.5e10.0001, mac:02005e100002', 'gpu[001-002]'],
  ['mac:02-00-5E-*', 'gpu[001-002]'],
  ['mac:*0001', 'gpu001'],
  ['mac:02:00:5e:?0:00:02', 'gpu002'],
  ['mac:02005e2*', 'gpu001'],
  ['mac:80000208FE800000000000007CFE900300292652', 'gpu003'],
  ['mac:80-00-02-*', 'gpu003'],
  ['{mac = 80000208fe800000000000007cfe900300292652}', 'gpu003'],
  ['mac:02:00:5e:10:00:03', ''],
  ['all,!mac:02:00:*,!cpu*', 'gpu[003-005]'],
  ['{mac = 02-00-5e-20-00-01}', 'gpu001'],
  ['{mac ~ 02-00-5E-10}', 'gpu[001-002]'],
  ['{mac ~ 0200.5e20}', 'gpu001'],
  ['{tag = b and not tag = a}', 'gpu002'],
  ['{name in (gpu001, gpu002)}, gpu003, !{tag = a}', 'gpu[002-003]'],
  ['{label.x = "}, {" or group = room}', 'gpu[001,004]'],
  ['!gpu*', 'cpu_[001-002]'],
  ['all,!@room,!status:UNREACHABLE', 'cpu_[001-002],gpu[002,005]'],
  ['gpu[001-002],@room,!gpu001', 'gpu[002,004]'],
  ['gpu001,!all', ''],
  ['gpu001,!gpu006', 'gpu001'],
])('%s', async (limit, names) => {
  expect(await selected(limit)).toBe(names)
})

describe('rejects', () => {
  test.each([
    ['xname:gpu1', /not an xname, a hostlist or a pattern/],
    ['xname:x1_*', /not an xname/],
    ['xname:x[1-999999999]c0s0b0n0', /more than 100000/],
    ['mac:02:00:5e', /is not the MAC of an interface, or a pattern/],
    ['mac:gpu*', /is not the MAC/],
    ['mac:01:00:5e:00:00:01', /is not the MAC/],
    ['nid:64-1', /not a range of NIDs/],
    ['nid:a', /not a range of NIDs/],
    ['', /at least one node/],
    [' , ', /at least one node/],
    ['gpu[001-003],gpu[008-009]', /there is no node gpu\[008-009\]/],
    ['!gpu099', /there is no node gpu099/],
    ['other001', /there is no node other001/],
    ['gpu006', /gpu006: decommissioned/],
    ['@nobody,@room', /there is no group nobody$/],
    ['{tag = }', /at character 7: expected a value, but the query ends/],
    ['{group = nobody}', /at character 9, "nobody": unknown group nobody/],
    ['{tag = a', /is not a node name/],
    ['gpu{tag = a}', /is not a node name/],
    ['{0}{tag = a}', /is not a node name/],
    ['status:BROKEN', /there is no status BROKEN; there are NEW/],
    ['gpu[1-', /pair up/],
    ["gpu001' or '1'='1", /is not a node name/],
    ['-oProxyCommand=x', /is not a node name/],
    ['gpu001;id', /is not a node name/],
    ['gpu\u0000*', /control characters/],
    ['tag:\u0000', /control characters/],
    ['!', /is not a node name/],
    ['@', /is not a node name/],
    ['localhost', /is not a node name/],
  ])('%j', async (limit, message) => {
    const error = await selectNodes(ours.operator, limit).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'limit', message: expect.stringMatching(message) }] })
  })
})

test('sorts by name in natural order, and preserves the order of ids', async () => {
  const own = await t.given.tenant()
  const some = await t.given.fleet(own.operator, { nodes: 3, with: (i) => ({ name: ['n10', 'n9', 'n1'][i]! }) })
  expect((await selectNodes(own.operator, 'all')).map((n) => n.name)).toEqual(['n1', 'n9', 'n10'])
  const ids = [some[2]!.id, some[0]!.id, some[2]!.id]
  expect((await selectNodes(own.operator, ids)).map((n) => n.name)).toEqual(['n1', 'n10'])
})

test('in a transaction, nodes stay in service until its end', async () => {
  const own = await t.given.tenant()
  const [node] = await t.given.fleet(own.operator)
  let isFinished = false
  let writing: Promise<unknown> = Promise.resolve()
  await t.runtime.db.transaction(async (tx) => {
    await selectNodes(own.operator, 'all', tx)
    writing = t.runtime.db
      .update(computeNodes)
      .set({ decommissionedAt: new Date() })
      .then(() => {
        expect(isFinished).toBe(true)
      })
    expect(await selectNodes(own.operator, [node!.id], tx)).toHaveLength(1)
    isFinished = true
  })
  await writing
})
