import { gunzipSync } from 'node:zlib'
import { probeFailureReason } from '@muster/discovery'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { accelerators, computeNodes, recordNodeSeen } from '../nodes/index.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import { selectNodes } from '../selection/index.ts'
import { acceleratorFixture, discoveryFixture } from '../testing/discovery-fixture.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { identify } from './accelerator-identity.ts'
import { discoverNodes } from './discover-nodes.ts'
import { type DiscoveryOutcome, finishDiscovery } from './finish-discovery.ts'
import { recordDiscoveryOfRun } from './record-discovery-of-run.ts'
import { startDiscovery } from './start-discovery.ts'
import { discoveries, discoveryEvidence } from './tables.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

let seen = 0
const aNode = async (fields: Partial<ComputeNode> = {}) =>
  (await t.given.fleet(ours.operator, { prefix: `d${++seen}x`, with: fields }))[0]!
const now = async (id: string) => (await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, id)))[0]!
const devicesOf = (node: ComputeNode) =>
  t.runtime.db.select().from(accelerators).where(eq(accelerators.nodeId, node.id)).orderBy(accelerators.index)
const discover = async (node: ComputeNode, outcome: Partial<DiscoveryOutcome>) => {
  const [row] = await discoverNodes(ours.operator, { nodeIds: [node.id] })
  await startDiscovery(ours.worker, { id: row!.id })
  return finishDiscovery(ours.worker, { id: row!.id, durationMs: 120.4, ...outcome })
}

describe('discoverNodes', () => {
  test('without ids takes every READY or UNREACHABLE node that allows connections', async () => {
    const own = await t.given.tenant()
    const nodes = await t.given.fleet(own.operator, {
      nodes: 6,
      with: (i) =>
        [
          {},
          { unreachableSince: new Date() },
          { hostKey: null },
          { readyAt: null },
          { maintenanceAt: new Date() },
          { hostKey: null, connectionType: 'local' as const },
        ][i]!,
    })
    const rows = await discoverNodes(own.operator)
    expect(rows.map((r) => r.nodeId).sort()).toEqual([nodes[0], nodes[1], nodes[5]].map((n) => n!.id).sort())
    expect(rows[0]).toMatchObject({ reason: 'sweep', status: 'PENDING' })
  })

  test('reads no large columns of nodes', async () => {
    const node = await aNode()
    expect((await selectNodes(ours.operator, [node.id]))[0]).not.toHaveProperty('facts')
    expect((await selectNodes(ours.operator, node.name))[0]).not.toHaveProperty('facts')
  })

  test('creates no second discovery while one is pending', async () => {
    const node = await aNode()
    const [[first], [second]] = [
      await discoverNodes(ours.operator, { nodeIds: [node.id] }),
      await discoverNodes(ours.operator, { nodeIds: [node.id] }),
    ]
    expect(second!.id).toBe(first!.id)
    await startDiscovery(ours.worker, { id: first!.id })
    const [third] = await discoverNodes(ours.operator, { nodeIds: [node.id] })
    expect(third!.id).not.toBe(first!.id)
  })

  test.each([
    [{ hostKey: null }, /not approved yet/],
    [{ decommissionedAt: new Date() }, /Decommissioned/],
  ])('rejects a node with %j', async (fields, message) => {
    const node = await aNode(fields)
    await expect(discoverNodes(ours.operator, { nodeIds: [node.id] })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(message),
    })
  })

  test('accepts 3,000 nodes in one call', async () => {
    const own = await t.given.tenant()
    const nodes = await t.given.fleet(own.operator, { nodes: 3000 })
    expect(await discoverNodes(own.operator, { nodeIds: nodes.map((n) => n.id) })).toHaveLength(3000)
  })
})

test('only one worker claims a discovery', async () => {
  const [row] = await discoverNodes(ours.operator, { nodeIds: [(await aNode()).id] })
  const { won } = await race(startDiscovery(ours.worker, { id: row!.id }), startDiscovery(ours.worker, { id: row!.id }))
  expect(won.filter((x) => x !== null)).toHaveLength(1)
})

describe('finishDiscovery', () => {
  test('updates node and accelerators and stores the evidence', async () => {
    const node = await aNode({ unreachableSince: new Date(), unreachableReason: 'x' })
    const result = discoveryFixture({
      accelerators: [acceleratorFixture(0), acceleratorFixture(1, { partitions: [], utilization: 42.5 })],
    })
    const row = await discover(node, { result, evidence: Buffer.from('raw output') })
    expect(row).toMatchObject({ status: 'SUCCEEDED', durationMs: 120, result, error: null })
    expect(await now(node.id)).toMatchObject({
      status: 'READY',
      arch: 'x86_64',
      osName: 'Ubuntu 24.04.3 LTS',
      osId: 'ubuntu',
      osVersion: '24.04',
      cpuModel: 'AMD EPYC 9654',
      cpuSockets: 2,
      cpuCores: 192,
      cpuThreads: 384,
      memoryBytes: 1_622_950_400_000,
      machineId: result.host.machineId,
      bootId: result.host.bootId,
      facts: result.host,
      discoveredAt: expect.any(Date),
      unreachableReason: null,
    })
    const devices = await devicesOf(node)
    expect(devices).toMatchObject([
      {
        index: 0,
        model: 'NVIDIA H100 80GB HBM3',
        memoryTotal: 85_520_809_984,
        temperature: 31,
        power: 70.5,
        tenantId: ours.tenant.id,
      },
      { index: 1, utilization: 42.5, health: 'ok', source: 'tool' },
    ])
    const [evidence] = await t.runtime.db.select().from(discoveryEvidence).where(eq(discoveryEvidence.discoveryId, row!.id))
    expect(gunzipSync(evidence!.gzip).toString()).toBe('raw output')
  })

  test('updates known devices, adds new ones and removes missing ones', async () => {
    const node = await aNode()
    await discover(node, { result: discoveryFixture({ accelerators: [acceleratorFixture(0), acceleratorFixture(1)] }) })
    const before = await devicesOf(node)
    // A reboot changes device numbers; the UUID identifies the device.
    await discover(node, {
      result: discoveryFixture({ accelerators: [acceleratorFixture(1, { index: 0, temperature: 60 }), acceleratorFixture(2)] }),
    })
    const after = await devicesOf(node)
    expect(after.map((d) => d.uuid?.at(-1))).toEqual(['1', '2'])
    expect(after[0]).toMatchObject({ id: before[1]!.id, index: 0, temperature: 60, firstSeenAt: before[1]!.firstSeenAt })
    expect(after[0]!.lastSeenAt.getTime()).toBeGreaterThan(before[1]!.lastSeenAt.getTime())
  })

  test('a card that is only visible on PCI keeps its identity and constant values', async () => {
    const node = await aNode()
    await discover(node, { result: discoveryFixture({ accelerators: [acceleratorFixture(0)] }) })
    const [before] = await devicesOf(node)
    const bare = acceleratorFixture(0, {
      uuid: null,
      serial: null,
      model: null,
      memoryTotal: null,
      temperature: null,
      health: 'unknown',
      source: 'pci',
    })
    await discover(node, { result: discoveryFixture({ accelerators: [bare] }) })
    expect(await devicesOf(node)).toMatchObject([
      {
        id: before!.id,
        uuid: before!.uuid,
        memoryTotal: before!.memoryTotal,
        temperature: null,
        health: 'unknown',
        source: 'pci',
      },
    ])
    await discover(node, { result: discoveryFixture({ accelerators: [acceleratorFixture(0)] }) })
    expect(await devicesOf(node)).toMatchObject([{ id: before!.id, health: 'ok', source: 'tool' }])
  })

  test('keeps the devices of a tool that hangs', async () => {
    const node = await aNode()
    await discover(node, { result: discoveryFixture({ accelerators: [acceleratorFixture(0)] }) })
    const hung = {
      tool: 'nvidia-smi' as const,
      state: 'TIMED_OUT' as const,
      reason: 'no answer in 10 s',
      path: null,
      version: null,
      durationMs: null,
      deviceCount: null,
    }
    await discover(node, { result: discoveryFixture({ tools: [hung] }) })
    expect(await devicesOf(node)).toMatchObject([
      { health: 'unknown', healthReason: expect.stringContaining('no answer in 10 s') },
    ])
    await discover(node, { result: discoveryFixture({ tools: [{ ...hung, state: 'OK', reason: null, deviceCount: 0 }] }) })
    expect(await devicesOf(node)).toEqual([])
  })

  test('a truncated probe removes nothing', async () => {
    const node = await aNode()
    await discover(node, { result: discoveryFixture({ accelerators: [acceleratorFixture(0)] }) })
    await discover(node, { result: discoveryFixture({ truncated: true }, { kernel: null, arch: 'aarch64' }) })
    expect(await now(node.id)).toMatchObject({
      kernel: '6.8.0-60-generic',
      arch: 'aarch64',
      facts: { kernel: '6.8.0-60-generic' },
    })
    expect(await devicesOf(node)).toHaveLength(1)
  })

  test('a node keeps its boot time until it has another boot id', async () => {
    const node = await aNode()
    await discover(node, { result: discoveryFixture() })
    const { bootedAt } = await now(node.id)
    await discover(node, { result: discoveryFixture({}, { uptimeSeconds: 3650 }) })
    expect((await now(node.id)).bootedAt).toEqual(bootedAt)
    await discover(node, { result: discoveryFixture({}, { uptimeSeconds: 10, bootId: 'another' }) })
    expect((await now(node.id)).bootedAt!.getTime()).toBeGreaterThan(bootedAt!.getTime())
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, node.id))
    expect(entries.filter(({ action }) => action === 'node.rebooted')).toMatchObject([
      { before: { bootId: discoveryFixture().host.bootId }, after: { bootId: 'another' } },
    ])
  })

  test('records a failure, and marks the node unreachable only when it did not answer', async () => {
    const node = await aNode()
    expect(await discover(node, { error: 'no space left' })).toMatchObject({
      status: 'FAILED',
      error: 'no space left',
      result: null,
    })
    expect(await now(node.id)).toMatchObject({ status: 'READY' })
    await discover(node, { error: 'timed out', unreachable: true })
    expect(await now(node.id)).toMatchObject({ status: 'UNREACHABLE', unreachableReason: 'timed out' })
    await recordNodeSeen(ours.worker, { nodeIds: [node.id] })
    expect(await now(node.id)).toMatchObject({ status: 'READY', unreachableReason: null })
  })

  test('removes values that Postgres rejects, and separates devices with identical properties', async () => {
    const node = await aNode()
    const twins = Array.from({ length: 3 }, () => acceleratorFixture(0, { model: 'a\u0000b\ud800', numaNode: 2 ** 40 }))
    const result = discoveryFixture(
      { accelerators: twins, warnings: ['\u0000'] },
      { cpu: { model: 'x', sockets: 2 ** 40, cores: 1, threads: 1, numaCores: null } },
    )
    expect(await discover(node, { result })).toMatchObject({ status: 'SUCCEEDED' })
    const devices = await devicesOf(node)
    expect(devices).toHaveLength(3)
    expect(devices[0]).toMatchObject({ model: 'ab\ufffd', numaNode: null })
    await discover(node, { result })
    expect((await devicesOf(node)).map((d) => d.id).sort()).toEqual(devices.map((d) => d.id).sort())
  })

  test('keeps the newest 50 discoveries of a node', async () => {
    const node = await aNode()
    for (let i = 0; i < 53; i++) await discover(node, { error: String(i) })
    const rows = await t.runtime.db.select().from(discoveries).where(eq(discoveries.nodeId, node.id)).orderBy(discoveries.id)
    expect(rows.map((r) => r.error)).toEqual(Array.from({ length: 50 }, (_, i) => String(i + 3)))
  })

  test('ends once and does not change a decommissioned node', async () => {
    const node = await aNode()
    const [row] = await discoverNodes(ours.operator, { nodeIds: [node.id] })
    await t.runtime.db.update(computeNodes).set({ decommissionedAt: new Date() }).where(eq(computeNodes.id, node.id))
    expect(await finishDiscovery(ours.worker, { id: row!.id, result: discoveryFixture(), durationMs: 1 })).toMatchObject({
      status: 'SUCCEEDED',
    })
    expect(await finishDiscovery(ours.worker, { id: row!.id, error: 'x', durationMs: 1 })).toBeNull()
    expect(await now(node.id)).toMatchObject({ status: 'DECOMMISSIONED', discoveredAt: null })
  })

  test('concurrent discoveries of one node are both stored', async () => {
    const node = await aNode()
    const rows: string[] = []
    for (let i = 0; i < 2; i++) {
      const [row] = await discoverNodes(ours.operator, { nodeIds: [node.id] })
      await startDiscovery(ours.worker, { id: row!.id })
      rows.push(row!.id)
    }
    const result = discoveryFixture({ accelerators: [acceleratorFixture(0), acceleratorFixture(1)] })
    const { lost } = await race(...rows.map((id) => finishDiscovery(ours.worker, { id, result, durationMs: 1 })))
    expect(lost).toEqual([])
    expect(await devicesOf(node)).toHaveLength(2)
  })
})

test('recordDiscoveryOfRun reports output without a probe result, and removes nothing', async () => {
  const node = await aNode()
  await discover(node, { result: discoveryFixture({ accelerators: [acceleratorFixture(0)] }) })
  const row = await recordDiscoveryOfRun(ours.worker, { nodeId: node.id, evidence: Buffer.from('sh: not found') })
  expect(row).toMatchObject({
    reason: 'run',
    status: 'FAILED',
    error: expect.stringContaining('did not run the probe but printed "sh: not found"'),
  })
  expect(await devicesOf(node)).toHaveLength(1)
  expect(await now(node.id)).toMatchObject({ kernel: '6.8.0-60-generic' })
})

test('recordDiscoveryOfRun removes nothing when the output was truncated', async () => {
  const node = await aNode()
  await discover(node, { result: discoveryFixture({ accelerators: [acceleratorFixture(0)] }) })
  const cut = Buffer.from(`muster-probe/1 ${'n'.repeat(16)}\n${'n'.repeat(16)} + host\nkernel=6.9\n`)
  expect(probeFailureReason(cut)).toMatch(/incomplete/)
  const row = await recordDiscoveryOfRun(ours.worker, { nodeId: node.id, evidence: cut })
  expect(row).toMatchObject({ reason: 'run', status: 'FAILED', result: null, error: probeFailureReason(cut) })
  expect(await devicesOf(node)).toHaveLength(1)
})

test('a repeated request for a pending discovery triggers a worker again', async () => {
  const node = await aNode()
  const [first] = await discoverNodes(ours.operator, { nodeIds: [node.id] })
  // The wake-up is lost.
  const entries = sql`from pgboss.job where name = 'discovery' and data->>'id' = ${first!.id}`
  await t.runtime.db.execute(sql`delete ${entries}`)
  const [again] = await discoverNodes(ours.operator, { nodeIds: [node.id] })
  expect(again!.id).toBe(first!.id)
  expect((await t.runtime.db.execute(sql`select id ${entries}`)).rows).toHaveLength(1)
})

describe('identify', () => {
  const known = (fields: Parameters<typeof acceleratorFixture>[1], identity: string) => ({
    ...acceleratorFixture(0, fields),
    identity,
  })

  test('a different card in the same slot is a new device', () => {
    const old = known({ uuid: 'GPU-old' }, 'uuid:GPU-old')
    expect(identify([acceleratorFixture(0, { uuid: 'GPU-new' })], [old])).toEqual(['uuid:GPU-new'])
  })

  test('separates chips of one card by slot', () => {
    const chip = (slot: string) => acceleratorFixture(0, { uuid: null, slot, pciAddress: '0000:c1:00.0' })
    const first = identify([chip('0/0'), chip('0/1')], [])
    expect(new Set(first).size).toBe(2)
    const before = [chip('0/0'), chip('0/1')].map((c, i) => ({ ...c, identity: first[i]! }))
    expect(identify([chip('0/1'), chip('0/0')], before)).toEqual([first[1], first[0]])
  })

  test('without UUID and address, the index identifies the device', () => {
    const bare = (index: number) => acceleratorFixture(index, { uuid: null, pciAddress: null })
    const first = identify([bare(0), bare(1)], [])
    expect(
      identify(
        [bare(1)],
        [bare(0), bare(1)].map((b, i) => ({ ...b, identity: first[i]! })),
      ),
    ).toEqual([first[1]])
  })
})
