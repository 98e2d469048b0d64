import { spawn } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { scheduler } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { audit, defineAuditActions } from './audit.ts'
import { chainHash, verificationKey } from './chain.ts'
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
})

const write = (tenant: TenantFixture, count: number) =>
  t.runtime.db.transaction((tx) =>
    audit(
      tx,
      tenant.owner,
      action,
      Array.from({ length: count }, (_, i) => ({ id: null, name: `row ${i}`, details: { i, 10: 'ten', 9: 'nine', ü: 1.5 } })),
    ),
  )
const rowsOf = ({ tenant }: TenantFixture) =>
  t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, tenant.id), isNotNull(auditEntries.seq)))
    .orderBy(asc(auditEntries.seq))
const problemsOf = async (tenant: TenantFixture) => (await verifyAuditChain(tenant.owner)).problems
const at = (seq: number) => sql`${auditEntries.tenantId} = ${ours.tenant.id} and ${auditEntries.seq} = ${seq}`

test('seals rows of each tenant in order, and reports the unsealed tail', async () => {
  await write(ours, 3)
  expect(await verifyAuditChain(ours.owner)).toMatchObject({ lastSeq: 0, problems: [], unsealedCount: 4 })
  await sealAuditEntries(t.runtime)
  await write(ours, 2)
  await Promise.all([sealAuditEntries(t.runtime), sealAuditEntries(t.runtime)])
  expect((await rowsOf(ours)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
  expect(await verifyAuditChain(ours.owner)).toMatchObject({
    lastSeq: 6,
    checkedCount: 6,
    hasMore: false,
    problems: [],
    unsealedCount: 0,
    oldestUnsealedAt: null,
  })
  const [page, next] = [
    await verifyAuditChain(ours.owner, { limit: 4 }),
    await verifyAuditChain(ours.owner, { after: 4, limit: 4 }),
  ]
  expect([page.hasMore, page.lastSeq, next.hasMore, next.lastSeq]).toEqual([true, 4, false, 6])
  expect([...page.problems, ...next.problems]).toEqual([])
})

test('a checkpoint verifies outside of Muster with the exported key', async () => {
  await write(ours, 1)
  await sealAuditEntries(t.runtime)
  const [{ tenantId, kind, seq, hash, keyVersion, signature }] = (await t.runtime.db
    .select()
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.tenantId, ours.tenant.id))) as [typeof auditCheckpoints.$inferSelect]
  const text = canonicalJson({ tenantId, kind, seq, hash, keyVersion })
  const key = createPublicKey(await verificationKey(t.runtime.vault, keyVersion))
  expect(verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))).toBe(true)
  expect(verify(null, Buffer.from(text.replace(hash, 'f'.repeat(64))), key, Buffer.from(signature, 'base64'))).toBe(false)
})

const tampering: [string, () => Promise<unknown>, object[]][] = [
  [
    'a changed field',
    () => t.runtime.db.update(auditEntries).set({ actorName: 'Eve' }).where(at(3)),
    [{ kind: 'changed', seq: 3 }],
  ],
  [
    'a time changed by a microsecond',
    () => t.runtime.db.update(auditEntries).set({ createdAt: sql`created_at + interval '1 microsecond'` }).where(at(3)),
    [{ kind: 'changed', seq: 3 }],
  ],
  [
    'a changed row with a new hash',
    async () => {
      const rows = await t.runtime.db.select().from(auditEntries).where(at(3))
      await t.runtime.db
        .update(auditEntries)
        .set({ hash: chainHash('0'.repeat(64), { ...rows[0]!, createdAt: '' }) })
        .where(at(3))
    },
    [
      { kind: 'changed', seq: 3 },
      { kind: 'checkpoint', seq: 3 },
      { kind: 'changed', seq: 4 },
    ],
  ],
  [
    'deleted rows',
    () => t.runtime.db.delete(auditEntries).where(sql`${at(2)} or ${at(3)}`),
    [{ kind: 'missing', seq: 2, lastSeq: 3 }],
  ],
  ['a deleted beginning', () => t.runtime.db.delete(auditEntries).where(at(1)), [{ kind: 'missing', seq: 1, lastSeq: 1 }]],
  [
    'exchanged rows',
    async () => {
      await t.runtime.db.update(auditEntries).set({ seq: 99 }).where(at(2))
      await t.runtime.db.update(auditEntries).set({ seq: 2 }).where(at(3))
      await t.runtime.db.update(auditEntries).set({ seq: 3 }).where(at(99))
    },
    [
      { kind: 'changed', seq: 2 },
      { kind: 'changed', seq: 3 },
      { kind: 'checkpoint', seq: 3 },
      { kind: 'changed', seq: 4 },
    ],
  ],
  ['a deleted end', () => t.runtime.db.delete(auditEntries).where(at(6)), [{ kind: 'missing', seq: 6, lastSeq: 6 }]],
  [
    'a deleted end with its checkpoint',
    async () => {
      await t.runtime.db.delete(auditEntries).where(at(6))
      await t.runtime.db.delete(auditCheckpoints).where(sql`tenant_id = ${ours.tenant.id} and seq = 6`)
    },
    [{ kind: 'unsigned', seq: 4, lastSeq: 5 }],
  ],
  [
    'a forged retention',
    async () => {
      const [seal] = await t.runtime.db.select().from(auditCheckpoints).where(sql`tenant_id = ${ours.tenant.id} and seq = 3`)
      const { id: _, ...columns } = seal!
      await t.runtime.db.insert(auditCheckpoints).values({ ...columns, kind: 'prune' })
      await t.runtime.db.delete(auditEntries).where(sql`tenant_id = ${ours.tenant.id} and seq <= 3`)
    },
    [
      { kind: 'missing', seq: 1, lastSeq: 3 },
      { kind: 'checkpoint', seq: 3 },
    ],
  ],
  [
    'a rewritten chain',
    async () => {
      const rows = await rowsOf(ours)
      let hash = '0'.repeat(64)
      for (const row of rows) {
        const [{ text }] = (
          await t.runtime.db.execute<{ text: string }>(
            sql`select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text from audit_entries where id = ${row.id}`,
          )
        ).rows as [{ text: string }]
        hash = chainHash(hash, { ...row, actorName: 'Eve', createdAt: text })
        await t.runtime.db.update(auditEntries).set({ hash, actorName: 'Eve' }).where(eq(auditEntries.id, row.id))
      }
    },
    [
      { kind: 'checkpoint', seq: 3 },
      { kind: 'checkpoint', seq: 6 },
    ],
  ],
]
test.each(tampering)('finds %s', async (_name, tamper, problems) => {
  await write(ours, 2)
  await sealAuditEntries(t.runtime)
  await write(ours, 3)
  await sealAuditEntries(t.runtime)
  expect(await problemsOf(ours)).toEqual([])
  await tamper()
  expect(await problemsOf(ours)).toMatchObject(problems)
  // Later rows do not hide it.
  await write(ours, 1)
  await sealAuditEntries(t.runtime)
  expect((await problemsOf(ours)).length).toBeGreaterThan(0)
})

test('finds rows exchanged between tenants', async () => {
  const theirs = await t.given.tenant()
  for (const tenant of [ours, theirs]) await write(tenant, 3)
  await sealAuditEntries(t.runtime)
  const [a, b] = [(await rowsOf(ours))[1]!, (await rowsOf(theirs))[1]!]
  await t.runtime.db.update(auditEntries).set({ tenantId: theirs.tenant.id }).where(eq(auditEntries.id, a.id))
  await t.runtime.db.update(auditEntries).set({ tenantId: ours.tenant.id }).where(eq(auditEntries.id, b.id))
  for (const tenant of [ours, theirs])
    expect(await problemsOf(tenant)).toMatchObject([
      { kind: 'changed', seq: 2 },
      { kind: 'changed', seq: 3 },
    ])
})

test('finds a chain replaced as a whole when the caller knows an earlier end', async () => {
  await write(ours, 3)
  await sealAuditEntries(t.runtime)
  const { lastSeq: seq, lastHash: hash } = await verifyAuditChain(ours.owner)
  await t.runtime.db.delete(auditCheckpoints).where(eq(auditCheckpoints.tenantId, ours.tenant.id))
  await t.runtime.db.delete(auditEntries).where(eq(auditEntries.tenantId, ours.tenant.id))
  expect(await problemsOf(ours)).toEqual([])
  expect((await verifyAuditChain(ours.owner, { expected: { seq, hash } })).problems).toMatchObject([{ kind: 'missing', seq }])
  await write(ours, seq)
  await sealAuditEntries(t.runtime)
  expect((await verifyAuditChain(ours.owner, { expected: { seq, hash } })).problems).toMatchObject([{ kind: 'checkpoint', seq }])
})

test('sealing that is killed inside transactions leaves a chain that verifies', async () => {
  const script = fileURLToPath(new URL('../testing/seal-until.ts', import.meta.url))
  await write(ours, 2500)
  for (const limit of [1, 3]) {
    const sealing = spawn(process.execPath, [script, t.url, String(limit)], { stdio: 'ignore' })
    const [code, signal] = await once(sealing, 'exit')
    expect(code ?? signal).toBe('SIGKILL')
    expect(await problemsOf(ours)).toEqual([])
    await write(ours, 1)
  }
  await sealAuditEntries(t.runtime)
  expect(await verifyAuditChain(ours.owner)).toMatchObject({ problems: [], unsealedCount: 0, lastSeq: 2503 })
})

test('verification lets other requests continue', async () => {
  const turn = vi.spyOn(scheduler, 'yield')
  await write(ours, 1200)
  for (let sealed = 1; sealed > 0; ) sealed = await sealAuditEntries(t.runtime)
  turn.mockClear()
  expect(await verifyAuditChain(ours.owner)).toMatchObject({ problems: [], checkedCount: 1201 })
  expect(turn).toHaveBeenCalledTimes(2)
  turn.mockRestore()
})
