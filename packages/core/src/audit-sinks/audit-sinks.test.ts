import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { alerts, retryMs } from '../alerts/index.ts'
import { audit, auditEntries, defineAuditActions, pruneAuditEntries, sealAuditEntries } from '../audit/index.ts'
import { decryptSinkSecrets } from '../credentials/decrypt-target-secrets.ts'
import { outboundSettings } from '../kernel/outbound/index.ts'
import { setRetention } from '../runs/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { checkAuditSinks } from './check-audit-sinks.ts'
import { claimAuditSink } from './claim-audit-sink.ts'
import { createAuditSink } from './create-audit-sink.ts'
import { deleteAuditSink } from './delete-audit-sink.ts'
import { finishAuditDelivery } from './finish-audit-delivery.ts'
import { type AuditSink, auditSinks } from './tables.ts'
import { testAuditSink } from './test-audit-sink.ts'
import { updateAuditSink } from './update-audit-sink.ts'

const action = defineAuditActions('test', ['write']).write
let t: TestRuntime
let fixture: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())
beforeEach(async () => {
  await t.runtime.db.delete(auditSinks)
  fixture = await t.given.tenant()
})

const HOOK = { kind: 'webhook' as const, url: 'https://siem.test/in?token=hidden', secret: 'a webhook secret' }
let count = 0
const sink = (fields: Partial<Parameters<typeof createAuditSink>[1]> = {}) =>
  createAuditSink(fixture.owner, { name: `sink ${++count}`, ...HOOK, ...fields })
const rowOf = async ({ id }: { id: string }): Promise<AuditSink> =>
  (await t.runtime.db.select().from(auditSinks).where(eq(auditSinks.id, id)))[0]!
/** Writes sealed entries, `minutes` old. */
async function write(count: number, { minutes = 0, size = 0 } = {}) {
  const rows = Array.from({ length: count }, (_, i) => ({ id: null, name: `row ${i}`, details: { text: 'x'.repeat(size) } }))
  await t.runtime.db.transaction((tx) => audit(tx, fixture.owner, action, rows))
  await t.runtime.db
    .update(auditEntries)
    .set({ createdAt: sql`now() - make_interval(mins => ${minutes})` })
    .where(and(eq(auditEntries.tenantId, fixture.tenant.id), isNull(auditEntries.seq)))
  await sealAuditEntries(t.runtime)
}
const claim = () => claimAuditSink(t.runtime)
const namesOf = (claimed: Awaited<ReturnType<typeof claim>>) => claimed!.entries.map((entry) => entry.objectName ?? entry.action)
const skipPause = () => t.runtime.db.update(auditSinks).set({ retryAt: null })

test('encrypts the address and secrets of a sink, and only a worker decrypts them', async () => {
  const created = await sink({ authorization: 'Bearer hidden too' })
  expect(created.settings).toEqual({ origin: 'https://siem.test' })
  expect(JSON.stringify(created)).not.toMatch(/hidden|webhook secret/)
  expect(await decryptSinkSecrets(fixture.worker, created)).toEqual({
    url: HOOK.url,
    secret: HOOK.secret,
    authorization: 'Bearer hidden too',
  })
  await expect(decryptSinkSecrets(fixture.owner, created)).rejects.toThrow('Only a worker')
  await expect(createAuditSink(fixture.admin, { name: 'x', ...HOOK })).rejects.toThrow('audit:write')
  const other = (await t.given.tenant()).owner
  for (const verb of [updateAuditSink, deleteAuditSink, testAuditSink])
    await expect(verb(other, { id: created.id })).rejects.toThrow('no sink')
})

test.each([
  ['webhook without a secret', { secret: null }, 'secret'],
  ['webhook with a host', { host: 'siem.test' }, 'host'],
  ['syslog without a host', { kind: 'syslog' as const, url: null, secret: null }, 'host'],
  [
    'something else than a certificate',
    { kind: 'syslog' as const, url: null, secret: null, host: 'a.test', caCertificate: 'x' },
    'caCertificate',
  ],
  ['a local address', { url: 'https://127.0.0.1/' }, 'url'],
])('rejects a %s', async (_what, fields, path) => {
  await expect(sink(fields)).rejects.toMatchObject({ issues: [expect.objectContaining({ path })] })
})

test('requires the authorization again for another server', async () => {
  const { id } = await sink({ authorization: 'Bearer hidden' })
  const change = { id, url: 'https://other.test/' }
  await expect(updateAuditSink(fixture.owner, change)).rejects.toMatchObject({ issues: [{ path: 'authorization' }] })
  const { settings, encrypted } = await updateAuditSink(fixture.owner, { ...change, authorization: null })
  expect([settings.origin, Object.keys(encrypted).sort()]).toEqual(['https://other.test', ['secret', 'url']])
  const local = outboundSettings.LOCAL_TARGETS.parse('127.0.0.1')
  await expect(updateAuditSink(fixture.owner, { id, url: 'https://127.0.0.1/' })).rejects.toThrow('LOCAL_TARGETS')
  await updateAuditSink(fixture.owner, { id, url: 'https://127.0.0.1/' }, local)
})

test('delivers entries since the creation of the sink, or all, in the order of the chain', async () => {
  await write(1)
  const late = await sink()
  const early = await sink({ includeExisting: true })
  await write(2)
  const claimed = [await claim(), await claim()]
  expect(await claim()).toBeNull()
  const of = (id: string) => claimed.find((each) => each!.sink.id === id)!
  expect(namesOf(of(late.id))).toEqual([late.name, early.name, 'row 0', 'row 1'])
  expect(namesOf(of(early.id)).slice(1)).toEqual(['row 0', late.name, early.name, 'row 0', 'row 1'])
  for (const each of claimed) await finishAuditDelivery(fixture.worker, each!, null)
  expect(await claim()).toBeNull()
  expect(await rowOf(late)).toMatchObject({ deliveredSeq: of(late.id).entries.at(-1)!.seq, attempts: 0, leasedUntil: null })
  await write(1)
  expect(namesOf(await claim())).toEqual(['row 0'])
})

test('sends entries again that were not accepted, in smaller batches, and never drops them', async () => {
  const created = await sink({ includeExisting: true })
  await write(600)
  const sizes: number[] = []
  for (let i = 0; i < 4; i++) {
    const claimed = await claim()
    sizes.push(claimed!.entries.length)
    expect(claimed!.entries[0]!.action).toBe('tenant.create')
    await finishAuditDelivery(fixture.worker, claimed!, { error: 'No.', isFinal: true })
    expect(await claim()).toBeNull()
    await skipPause()
  }
  expect(sizes).toEqual([500, 250, 125, 62])
  expect(await rowOf(created)).toMatchObject({ lastError: 'No.', failingSince: expect.any(Date), attempts: 4 })
  await updateAuditSink(fixture.owner, { id: created.id, isEnabled: false })
  expect(await claim()).toBeNull()
  await updateAuditSink(fixture.owner, { id: created.id, isEnabled: true })
  expect(await claim()).toMatchObject({ sink: { lastError: null }, entries: { length: 500 } })
  expect(retryMs(99, 0)).toBeGreaterThan(5 * 60_000)
})

test('limits the bytes of a batch', async () => {
  await sink()
  await write(40, { size: 50_000 })
  const claimed = await claim()
  expect(claimed!.entries.length).toBeGreaterThan(5)
  expect(JSON.stringify(claimed!.entries).length).toBeLessThan(600_000)
})

test('a worker that lost its lease does not move the sink', async () => {
  const created = await sink()
  await write(1)
  const lost = (await claim())!
  await t.runtime.db.update(auditSinks).set({ leasedUntil: sql`now() - interval '1 second'` })
  const current = (await claim())!
  expect(current.entries).toEqual(lost.entries)
  await finishAuditDelivery(fixture.worker, lost, null)
  expect(await rowOf(created)).toMatchObject({ deliveredSeq: created.deliveredSeq, leaseToken: current.leaseToken })
  await finishAuditDelivery(fixture.worker, current, null)
  expect((await rowOf(created)).deliveredSeq).toBe(current.entries.at(-1)!.seq)
})

test('tests a disabled sink without entries, and a success ends its pause', async () => {
  const created = await sink({ isEnabled: false })
  await write(1)
  await testAuditSink(fixture.owner, { id: created.id })
  const first = (await claim())!
  expect(first.entries).toEqual([])
  await finishAuditDelivery(fixture.worker, first, { error: 'No.' })
  expect(await rowOf(created)).toMatchObject({
    testedAt: expect.any(Date),
    testError: 'No.',
    testRequestedAt: null,
    retryAt: null,
  })
  expect(await claim()).toBeNull()
  await testAuditSink(fixture.owner, { id: created.id })
  await finishAuditDelivery(fixture.worker, (await claim())!, null)
  expect(await rowOf(created)).toMatchObject({ testError: null, deliveredSeq: created.deliveredSeq })
})

test('raises one alert while entries wait for too long, sealed or not, and resolves it', async () => {
  const alertsOf = () => t.runtime.db.select().from(alerts).where(eq(alerts.tenantId, fixture.tenant.id)).orderBy(asc(alerts.id))
  const [a, b] = [await sink(), await sink()]
  await write(1, { minutes: 4 })
  expect(await checkAuditSinks(t.runtime)).toBe(0)
  expect(await alertsOf()).toEqual([])
  await t.runtime.db.update(auditEntries).set({ createdAt: sql`now() - interval '6 minutes'` })
  await t.runtime.db.update(auditSinks).set({ lastError: 'No.' })
  expect(await checkAuditSinks(t.runtime)).toBe(2)
  expect(await checkAuditSinks(t.runtime)).toBe(2)
  const row = { name: a.name, since: expect.stringMatching(/^20.*Z$/), error: 'No.' }
  expect(await alertsOf()).toMatchObject([
    { kind: 'audit_sink_behind', count: 1, resolvedAt: null, evidence: { sinks: [row, { ...row, name: b.name }] } },
  ])
  await deleteAuditSink(fixture.owner, { id: a.id })
  expect(await checkAuditSinks(t.runtime)).toBe(1)
  expect(await alertsOf()).toMatchObject([{ count: 2, evidence: { sinks: [{ name: b.name }] } }])
  await t.runtime.db.update(auditSinks).set({ deliveredSeq: 1_000_000 })
  // The entry of the deletion is not sealed yet.
  await t.runtime.db.update(auditEntries).set({ createdAt: sql`now() - interval '6 minutes'` }).where(isNull(auditEntries.seq))
  expect(await checkAuditSinks(t.runtime)).toBe(1)
  await sealAuditEntries(t.runtime)
  expect(await checkAuditSinks(t.runtime)).toBe(0)
  expect(await alertsOf()).toMatchObject([{ resolvedAt: expect.any(Date) }])
  expect((await rowOf(b)).behindSince).toBeNull()
})

test('retention waits for enabled sinks, at most 30 days, and its entry names the sinks that missed something', async () => {
  await setRetention(fixture.owner, { auditDays: 40 })
  const days = (count: number) => ({ minutes: count * 24 * 60 })
  const created = await sink({ includeExisting: true })
  await write(1, days(71))
  await write(1, days(69))
  await write(1, days(41))
  // The entries of the fixture are as old as the first: one transaction sealed them.
  expect(await pruneAuditEntries(t.runtime)).toBe(4)
  const [entry] = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, fixture.tenant.id), eq(auditEntries.action, 'audit_log.prune')))
  expect(entry).toMatchObject({ details: { undeliveredTo: [created.name] } })
  await finishAuditDelivery(fixture.worker, (await claim())!, null)
  expect(await pruneAuditEntries(t.runtime)).toBe(2)
})
