import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { credentials } from '../credentials/index.ts'
import { discoverNodes } from '../discoveries/index.ts'
import { rolePermissions } from '../kernel/permissions.ts'
import {
  computeNodes,
  connectBlockedReason,
  fingerprint,
  recordNodeSeen,
  recordNodesUnreachable,
  recordNodeUnreachable,
} from '../nodes/index.ts'
import { nodePermissions } from '../nodes/permissions.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import type { Ctx } from '../registry.ts'
import { makeHostKey, type TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { approveHostKeys } from './approve-host-keys.ts'
import { recordOfferedHostKey } from './record-offered-host-key.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

let seen = 0
const aNode = async (fields: Partial<ComputeNode> = {}) =>
  (await t.given.fleet(ours.operator, { prefix: `k${++seen}x`, with: fields }))[0]!
const NEW = { hostKey: null, hostKeyApprovedAt: null, readyAt: null }
const now = async (id: string) => (await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, id)))[0]!
const offer = (node: { id: string }, key: string) =>
  recordOfferedHostKey(ours.worker, { objectType: 'ComputeNode', objectId: node.id, key })
const approve = (node: { id: string }, key: string, ctx = ours.admin) =>
  approveHostKeys(ctx, { approvals: [{ objectType: 'ComputeNode', id: node.id, fingerprint: fingerprint(key) }] })

test('fingerprint equals that of ssh-keygen -l', () => {
  // ssh-keygen -lf of this line.
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
  expect(fingerprint(key)).toBe('SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU')
})

describe('the first key', () => {
  test('waits for approval, which pins it', async () => {
    const node = await aNode(NEW)
    const key = makeHostKey()
    expect(await offer(node, key)).toBe('NEW')
    expect(await now(node.id)).toMatchObject({
      status: 'NEW',
      hostKey: null,
      offeredHostKey: key,
      offeredHostKeyAt: expect.any(Date),
    })
    expect(connectBlockedReason(await now(node.id))).toMatch(/not approved yet/)
    const { nodes } = await approve(node, key)
    expect(nodes).toMatchObject([
      { id: node.id, hostKey: key, offeredHostKey: null, offeredHostKeyAt: null, hostKeyApprovedAt: expect.any(Date) },
    ])
    expect(connectBlockedReason(nodes[0]!)).toBeNull()
    expect(await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, node.id))).toMatchObject([
      { action: 'node.approve_host_key', actorId: ours.admin.actor.id, details: { old: null, new: fingerprint(key) } },
    ])
    expect(await offer(node, key)).toBe('PINNED')
  })

  test('is not pinned when the node now offers another one', async () => {
    const node = await aNode(NEW)
    const [shown, later] = [makeHostKey(), makeHostKey()]
    await offer(node, shown)
    await offer(node, later)
    await expect(approve(node, shown)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('offers another key now'),
    })
    expect(await now(node.id)).toMatchObject({ hostKey: null, offeredHostKey: later })
  })

  test('concurrent approvals approve it once', async () => {
    const node = await aNode(NEW)
    const key = makeHostKey()
    await offer(node, key)
    const { won } = await race(approve(node, key), approve(node, key, ours.admin))
    expect(won).toHaveLength(2)
    expect(await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, node.id))).toHaveLength(1)
  })
})

describe('a changed key', () => {
  test('makes the node unreachable, and nothing connects until it is approved', async () => {
    const node = await aNode()
    const key = makeHostKey()
    expect(await offer(node, key)).toBe('CHANGED')
    expect(await offer(node, key)).toBe('CHANGED')
    const alarmed = await now(node.id)
    expect(alarmed).toMatchObject({ status: 'UNREACHABLE', hostKey: node.hostKey, offeredHostKey: key })
    expect(alarmed.unreachableReason).toContain(fingerprint(key))
    expect(alarmed.unreachableReason).toContain(fingerprint(node.hostKey!))
    await expect(discoverNodes(ours.operator, { nodeIds: [node.id] })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await discoverNodes(ours.operator)).map((d) => d.nodeId)).not.toContain(node.id)

    await recordNodeSeen(ours.worker, { nodeIds: [node.id] })
    await recordNodeUnreachable(ours.worker, { nodeId: node.id, reason: 'timeout' })
    expect(await now(node.id)).toMatchObject({ status: 'UNREACHABLE', unreachableReason: alarmed.unreachableReason })

    await approve(node, key)
    expect(await now(node.id)).toMatchObject({ status: 'READY', hostKey: key, offeredHostKey: null, unreachableReason: null })
    expect(
      await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, node.id)).orderBy(auditEntries.id),
    ).toMatchObject([
      { action: 'node.host_key_changed', details: { approved: fingerprint(node.hostKey!), offered: fingerprint(key) } },
      { action: 'node.approve_host_key', details: { old: fingerprint(node.hostKey!), new: fingerprint(key) } },
    ])
  })

  test('is cleared when the node offers the approved key again', async () => {
    const node = await aNode()
    await offer(node, makeHostKey())
    expect(await offer(node, node.hostKey!)).toBe('PINNED')
    expect(await now(node.id)).toMatchObject({ status: 'READY', offeredHostKey: null, unreachableReason: null })
  })
})

test('records many unreachable nodes in one call, each with its own reason', async () => {
  const nodes = await t.given.fleet(ours.operator, { nodes: 3, prefix: 'lost' })
  const alarmed = await aNode()
  await offer(alarmed, makeHostKey())
  const update = vi.spyOn(ours.worker.db, 'update')
  const lost = [...nodes, alarmed].map((node, i) => ({ nodeId: node.id, reason: `no answer\0 ${i}` }))
  await recordNodesUnreachable(ours.worker, lost)
  expect(update).toHaveBeenCalledTimes(1)
  update.mockRestore()
  for (const [i, node] of nodes.entries())
    expect(await now(node.id)).toMatchObject({ status: 'UNREACHABLE', unreachableReason: `no answer\ufffd ${i}` })
  expect((await now(alarmed.id)).unreachableReason).toContain('key')
})

describe('approveHostKeys', () => {
  test('accepts nodes and bastions in one call', async () => {
    const node = await aNode(NEW)
    const bastion = await t.given.credential(ours.admin, 'BASTION')
    const [a, b] = [makeHostKey(), makeHostKey()]
    await offer(node, a)
    expect(await recordOfferedHostKey(ours.worker, { objectType: 'Credential', objectId: bastion.id, key: b })).toBe('NEW')
    const result = await approveHostKeys(ours.admin, {
      approvals: [
        { objectType: 'ComputeNode', id: node.id, fingerprint: fingerprint(a) },
        { objectType: 'Credential', id: bastion.id, fingerprint: fingerprint(b) },
      ],
    })
    expect(result).toMatchObject({ nodes: [{ hostKey: a }], credentials: [{ hostKey: b, offeredHostKey: null }] })
    expect(await recordOfferedHostKey(ours.worker, { objectType: 'Credential', objectId: bastion.id, key: a })).toBe('CHANGED')
    expect(await t.runtime.db.select().from(credentials).where(eq(credentials.id, bastion.id))).toMatchObject([
      { hostKey: b, offeredHostKey: a },
    ])
  })

  test('requires credential:use', async () => {
    const node = await aNode(NEW)
    const key = makeHostKey()
    await offer(node, key)
    const granted = new Set([...rolePermissions('operator'), nodePermissions.approveHostKey.name])
    const withoutUse = { ...ours.operator, actor: { ...ours.operator.actor, permissions: granted } as Ctx['actor'] }
    await expect(approve(node, key, withoutUse)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('credential:use'),
    })
  })

  test('is all or nothing', async () => {
    const [one, two] = [await aNode(NEW), await aNode(NEW)]
    const key = makeHostKey()
    await offer(one, key)
    await expect(
      approveHostKeys(ours.admin, {
        approvals: [
          { objectType: 'ComputeNode', id: one.id, fingerprint: fingerprint(key) },
          { objectType: 'ComputeNode', id: two.id, fingerprint: fingerprint(key) },
        ],
      }),
    ).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(two.name) })
    expect(await now(one.id)).toMatchObject({ hostKey: null, offeredHostKey: key })
  })

  test('rejects an invalid fingerprint', async () => {
    await expect(
      approveHostKeys(ours.admin, {
        approvals: [{ objectType: 'ComputeNode', id: (await aNode()).id, fingerprint: 'MD5:aa' }],
      }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: 'approvals.0.fingerprint' }] })
  })
})

test('recordOfferedHostKey rejects an invalid key', async () => {
  await expect(offer(await aNode(), 'ssh-ed25519 AAAA\nevil')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
