import { leafHash, openCheckpoint, verifyConsistency, verifyInclusion } from '@muster/ledger'
import { and, asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agents } from '../agents/tables.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import { NotFound } from '../kernel/errors.ts'
import { computeNodes } from '../nodes/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type InsertedAgent, insertAgents } from '../testing/insert-agents.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { proveLedgerConsistency, proveLedgerEntry } from './prove-entry.ts'
import { recordNodeChanges } from './record-node-changes.ts'
import { ledgerCheckpoints, ledgerEntries, ledgerSettings } from './tables.ts'
import { updateLedgerSettings } from './update-ledger-settings.ts'
import { ledgerVerifierKeys } from './verifier-keys.ts'

let t: TestRuntime
let ours: TenantFixture
let inserted: InsertedAgent[]
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  await updateLedgerSettings(ours.admin, { isEnabled: true })
  inserted = await insertAgents({ db: t.runtime.db, tenantId: ours.tenant.id }, 5, { receivedAt: new Date() })
})

const entries = () =>
  t.runtime.db.select().from(ledgerEntries).where(eq(ledgerEntries.tenantId, ours.tenant.id)).orderBy(asc(ledgerEntries.seq))
const checkpoints = () =>
  t.runtime.db
    .select()
    .from(ledgerCheckpoints)
    .where(eq(ledgerCheckpoints.tenantId, ours.tenant.id))
    .orderBy(asc(ledgerCheckpoints.size))
/** Makes the next batch due, and the last entries old. */
const later = async () => {
  await t.runtime.db.update(ledgerSettings).set({ recordedAt: sql`now() - interval '1 day'` })
}
const heartbeat = (agent: InsertedAgent, sequence: number) =>
  t.runtime.db.update(agentHeartbeats).set({ bootEpoch: 1, sequence }).where(eq(agentHeartbeats.nodeId, agent.nodeId))
const recordsOf = async () => (await entries()).map(({ record }) => JSON.parse(record) as Record<string, unknown>)

describe('a batch', () => {
  it('has each changed node once, with its latest values', async () => {
    await recordNodeChanges(t.runtime)
    expect(await entries()).toHaveLength(5)
    expect(await recordNodeChanges(t.runtime)).toBe(0)
    const { nodeId } = inserted[2]!
    for (const state of ['STALE', 'OFFLINE', 'DRAINED'] as const)
      await t.runtime.db.update(agents).set({ state }).where(eq(agents.nodeId, nodeId))
    await t.runtime.db.update(computeNodes).set({ region: 'eu' }).where(eq(computeNodes.id, nodeId))
    // Not due yet.
    expect(await recordNodeChanges(t.runtime)).toBe(0)
    await later()
    expect(await recordNodeChanges(t.runtime)).toBe(1)
    expect((await recordsOf()).at(-1)).toMatchObject({ muster_id: nodeId, state: 'DRAINED', region: 'eu', active: false })
  })

  it('has heartbeats without other changes only after the maximum age', async () => {
    await recordNodeChanges(t.runtime)
    for (const agent of inserted) await heartbeat(agent, 7)
    await later()
    expect(await recordNodeChanges(t.runtime)).toBe(0)
    await t.runtime.db.execute(
      sql`update ledger_nodes set recorded_at = now() - interval '2 days' where node_id = ${inserted[0]!.nodeId}`,
    )
    await later()
    expect(await recordNodeChanges(t.runtime)).toBe(1)
    expect((await recordsOf()).at(-1)).toMatchObject({ last_sequence_number: 7, boot_epoch: 1, state: 'ACTIVE' })
  })

  it('records a node once when several workers run', async () => {
    await Promise.all(Array.from({ length: 4 }, () => recordNodeChanges(t.runtime)))
    expect((await entries()).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4])
  })

  it('records nothing for tenants that did not enable it, and states unknown values as null', async () => {
    const other = await t.given.tenant()
    await insertAgents({ db: t.runtime.db, tenantId: other.tenant.id }, 2)
    await recordNodeChanges(t.runtime)
    expect(await t.runtime.db.$count(ledgerEntries, eq(ledgerEntries.tenantId, other.tenant.id))).toBe(0)
    expect((await recordsOf())[0]).toMatchObject({
      network_bandwidth_mbps: null,
      health: expect.any(String),
      resources: { memory_gb: null, gpus: null },
    })
  })
})

describe('the tree', () => {
  it('proves every entry and every earlier checkpoint with the published keys', async () => {
    for (const [round, agent] of inserted.entries()) {
      await t.runtime.db
        .update(computeNodes)
        .set({ region: `r${round}` })
        .where(eq(computeNodes.id, agent.nodeId))
      await later()
      await recordNodeChanges(t.runtime)
    }
    const rows = await entries()
    expect(rows).toHaveLength(9)
    const keys = await ledgerVerifierKeys(ours.viewer)
    const heads = (await checkpoints()).map(({ note }) => openCheckpoint(note, keys))
    expect(heads.map(({ size }) => size)).toEqual([5, 6, 7, 8, 9])
    for (const { seq, record } of rows)
      for (const { size, root } of heads.filter((head) => head.size > seq)) {
        const proof = await proveLedgerEntry(ours.viewer, seq, size)
        const hash = leafHash(Buffer.from(record))
        expect(verifyInclusion({ hash, leaf: seq, size, path: proof.hashes, root })).toBe(true)
        expect(verifyInclusion({ hash: leafHash(Buffer.from(`${record} `)), leaf: seq, size, path: proof.hashes, root })).toBe(
          false,
        )
      }
    for (const old of heads)
      for (const { size, root } of heads.filter((head) => head.size >= old.size)) {
        const { hashes } = await proveLedgerConsistency(ours.viewer, old.size, size)
        expect(verifyConsistency({ oldSize: old.size, oldRoot: old.root, size, root, path: hashes })).toBe(true)
      }
  })

  it('says which entries a checkpoint has', async () => {
    await expect(proveLedgerEntry(ours.viewer, 0)).rejects.toThrow(NotFound)
    await recordNodeChanges(t.runtime)
    await expect(proveLedgerEntry(ours.viewer, 5)).rejects.toThrow('must be 0 to 4')
    await expect(proveLedgerEntry(ours.viewer, 0, 4)).rejects.toThrow('no checkpoint of 4 entries')
    await expect(proveLedgerConsistency(ours.viewer, 6)).rejects.toThrow('must be 1 to 5')
  })

  it('cannot be changed by the application', async () => {
    await recordNodeChanges(t.runtime)
    const app = ours.owner.db
    await expect(app.update(ledgerEntries).set({ record: '{}' })).rejects.toThrow()
    await expect(app.delete(ledgerCheckpoints)).rejects.toThrow()
  })

  it('keeps the entries of a purged node', async () => {
    await recordNodeChanges(t.runtime)
    await t.runtime.db.delete(computeNodes).where(and(eq(computeNodes.id, inserted[0]!.nodeId)))
    expect(await entries()).toHaveLength(5)
  })
})

describe('settings', () => {
  it('rejects a maximum age below the interval', async () => {
    await expect(updateLedgerSettings(ours.admin, { intervalSeconds: 600, maxAgeSeconds: 60 })).rejects.toThrow(
      'must be at least the 600 s between batches',
    )
  })
})
