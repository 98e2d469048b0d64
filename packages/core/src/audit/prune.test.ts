import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setRetention } from '../runs/results/set-retention.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { audit, defineAuditActions } from './audit.ts'
import { exportAuditRecords } from './export-audit-records.ts'
import { pruneAuditEntries } from './prune-audit-entries.ts'
import { sealAuditEntries } from './seal-audit-entries.ts'
import { auditCheckpoints, auditEntries } from './tables.ts'
import { verifyAuditChain } from './verify-audit-chain.ts'

const action = defineAuditActions('test', ['write']).write
let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  await setRetention(ours.owner, { auditDays: 40 })
  await write(3, 45)
  await write(2, 41)
  await write(2, 39)
})

/** Writes sealed rows that are `days` old, after the rows of the fixture. */
async function write(count: number, days: number) {
  const rows = Array.from({ length: count }, (_, i) => ({ id: null, name: `row ${i}` }))
  await t.runtime.db.transaction((tx) => audit(tx, ours.owner, action, rows))
  await t.runtime.db
    .update(auditEntries)
    .set({ createdAt: sql`now() - make_interval(days => ${days})` })
    .where(and(eq(auditEntries.tenantId, ours.tenant.id), isNull(auditEntries.seq)))
  await sealAuditEntries(t.runtime)
}
const positions = async () =>
  (
    await t.runtime.db
      .select({ seq: auditEntries.seq })
      .from(auditEntries)
      .where(eq(auditEntries.tenantId, ours.tenant.id))
      .orderBy(asc(auditEntries.seq))
  ).map(({ seq }) => seq)
const checkpointsOf = () => t.runtime.db.select().from(auditCheckpoints).where(eq(auditCheckpoints.tenantId, ours.tenant.id))

test('deletes old rows with a signed checkpoint, and the rest verifies and exports', async () => {
  // The fixture's rows come first: tenant.create and retention.set.
  expect(await positions()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(await pruneAuditEntries(t.runtime)).toBe(7)
  expect(await positions()).toEqual([8, 9, null])
  expect(await verifyAuditChain(ours.owner)).toMatchObject({ after: 7, lastSeq: 9, problems: [], unsealedCount: 1 })
  await sealAuditEntries(t.runtime)
  expect(await pruneAuditEntries(t.runtime)).toBe(0)
  expect((await checkpointsOf()).map(({ kind, seq }) => `${kind} ${seq}`).sort()).toEqual([
    'prune 7',
    'seal 10',
    'seal 7',
    'seal 9',
  ])
  const [entry] = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, ours.tenant.id), eq(auditEntries.seq, 10)))
  expect(entry).toMatchObject({ action: 'audit_log.prune', details: { entries: 7, lastSeq: 7, retentionDays: 40 } })
  const records: unknown[] = []
  for await (const record of exportAuditRecords(ours.owner))
    records.push(record.type === 'key' ? 'key' : [record.kind ?? record.type, record.seq])
  expect(records).toEqual(['key', ['prune', 7], ['entry', 8], ['entry', 9], ['seal', 9], ['entry', 10], ['seal', 10]])
})

test.each([
  ['a changed row', (seq: number) => t.runtime.db.update(auditEntries).set({ actorName: 'Eve' }).where(at(seq))],
  ['a missing row', (seq: number) => t.runtime.db.delete(auditEntries).where(at(seq))],
])('keeps %s and all after it', async (_what, tamper) => {
  await tamper(5)
  const before = await positions()
  expect(await pruneAuditEntries(t.runtime)).toBe(0)
  expect(await positions()).toEqual(before)
  expect((await verifyAuditChain(ours.owner)).problems).toMatchObject([{ seq: 5 }])
})
const at = (seq: number) => sql`${auditEntries.tenantId} = ${ours.tenant.id} and ${auditEntries.seq} = ${seq}`

test('keeps everything without a retention, and after a forged checkpoint', async () => {
  await pruneAuditEntries(t.runtime)
  const [prune] = (await checkpointsOf()).filter(({ kind }) => kind === 'prune')
  await t.runtime.db
    .update(auditCheckpoints)
    .set({ hash: 'f'.repeat(64) })
    .where(eq(auditCheckpoints.id, prune!.id))
  await setRetention(ours.owner, { auditDays: 30 })
  expect(await pruneAuditEntries(t.runtime)).toBe(0)
  await setRetention(ours.owner, { auditDays: null })
  expect(await pruneAuditEntries(t.runtime)).toBe(0)
})

test('is set by owners, to 30 days or more', async () => {
  await expect(setRetention(ours.admin, { auditDays: 90 })).rejects.toThrow('audit:write')
  await setRetention(ours.admin, { logDays: 90 })
  await expect(setRetention(ours.owner, { auditDays: 29 })).rejects.toThrow('at least 30')
})

test('deletes old rows of the installation with their own retention', async () => {
  const fresh = await testRuntime()
  const { runtime } = fresh
  const { db } = runtime
  for (const days of [400, 300]) {
    await db.transaction((tx) => audit(tx, { actor: runtime.actor, tenantId: null }, action, [{ id: null }, { id: null }]))
    await db
      .update(auditEntries)
      .set({ createdAt: sql`now() - make_interval(days => ${days})` })
      .where(isNull(auditEntries.seq))
    await sealAuditEntries(runtime)
  }
  expect(await pruneAuditEntries(runtime)).toBe(0)
  expect(await pruneAuditEntries(runtime, 365)).toBe(2)
  await sealAuditEntries(runtime)
  // One more row: that of the deletion.
  expect(await db.$count(auditEntries, isNull(auditEntries.tenantId))).toBe(3)
  const { installationAdmin } = await fresh.given.tenant()
  const verified = await verifyAuditChain(installationAdmin, { installation: db })
  expect(verified).toMatchObject({ problems: [], after: 2, checkedCount: 3 })
  await fresh.close()
})

test('reports an expected position that retention deleted, and compares the last deleted one', async () => {
  await pruneAuditEntries(t.runtime)
  const [prune] = (await checkpointsOf()).filter(({ kind }) => kind === 'prune')
  const verify = async (seq: number, hash: string) => (await verifyAuditChain(ours.owner, { expected: { seq, hash } })).problems
  expect(await verify(prune!.seq, prune!.hash)).toEqual([])
  expect(await verify(prune!.seq, 'f'.repeat(64))).toMatchObject([{ kind: 'checkpoint', seq: prune!.seq }])
  expect(await verify(prune!.seq - 1, 'f'.repeat(64))).toMatchObject([{ kind: 'pruned', seq: prune!.seq - 1 }])
})
