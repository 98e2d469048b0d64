import { once } from 'node:events'
import { createServer } from 'node:net'
import { audit, auditEntries, defineAuditActions, sealAuditEntries } from '@muster/core/audit'
import { auditSinks, createAuditSink, testAuditSink } from '@muster/core/audit-sinks'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWebhookReceiver, VERIFIERS } from '../testing/alert-receivers.ts'
import { startRsyslog } from '../testing/rsyslog.ts'
import { reconcileAuditSinks, type SinkOptions } from './audit.ts'

const SECRET = 'a webhook secret'
const action = defineAuditActions('node', ['update']).update
let t: TestRuntime
let fixture: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())
let count = 0
const open: { stop(): Promise<void> }[] = []
beforeEach(async () => {
  await t.runtime.db.delete(auditSinks)
  fixture = await t.given.tenant(`Site "A"] ${++count}`)
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop()
})

const worker = (options: Partial<SinkOptions> = {}) => {
  const given = { hostname: 'muster.test', localTargets: LOOPBACK, ...options }
  const reconciler = reconcileAuditSinks(t.runtime, `worker ${++count}`, given)
  open.push(reconciler)
  return reconciler
}
const receiver = async (reply: Parameters<typeof createWebhookReceiver>[0]) => {
  const created = await createWebhookReceiver(reply)
  open.push(created)
  return created
}
const webhook = (url: string) =>
  createAuditSink(
    fixture.owner,
    { name: `hook ${++count}`, kind: 'webhook', url, secret: SECRET, authorization: 'Bearer token', includeExisting: true },
    LOOPBACK,
  )
type Fields = Partial<Parameters<typeof createAuditSink>[1]>
const syslog = (port: number, fields: Fields = {}) =>
  createAuditSink(
    fixture.owner,
    { name: `syslog ${++count}`, kind: 'syslog', host: '127.0.0.1', port, includeExisting: true, ...fields },
    LOOPBACK,
  )
async function write(names: string[], details: Record<string, unknown> = {}) {
  const rows = names.map((name) => ({ id: fixture.tenant.id, name, details }))
  await t.runtime.db.transaction((tx) => audit(tx, fixture.owner, action, rows))
  await sealAuditEntries(t.runtime)
}
const sealed = () =>
  t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, fixture.tenant.id), isNotNull(auditEntries.seq)))
    .orderBy(asc(auditEntries.seq))
const stateOf = async ({ id }: { id: string }) => (await t.runtime.db.select().from(auditSinks).where(eq(auditSinks.id, id)))[0]!
const names = Array.from({ length: 30 }, (_, i) => `node ${i}`)

describe('webhook', () => {
  type Body = {
    id: string
    event: string
    tenant: string
    entries: { id: string; seq: number; hash: string; objectName: string }[]
  }
  const bodies = (got: { body: string }[]): Body[] => got.map(({ body }) => JSON.parse(body))

  it('delivers all entries once each, signed and in the order of the chain, with several workers', async () => {
    const { url, got } = await receiver(VERIFIERS.webhook(SECRET))
    const sink = await webhook(url)
    const workers = [worker(), worker(), worker()]
    const delivered = () => bodies(got).flatMap(({ entries }) => entries)
    for (const name of names) {
      await write([name])
      for (const one of workers) one.trigger()
    }
    await expect.poll(async () => delivered().length >= (await sealed()).length).toBe(true)
    await Promise.all(workers.map((one) => one.stop()))
    const rows = (await sealed()).slice(0, delivered().length)
    expect(delivered().map(({ id, seq, hash }) => [id, seq, hash])).toEqual(rows.map(({ id, seq, hash }) => [id, seq, hash]))
    expect(bodies(got)[0]).toMatchObject({ event: 'AUDIT_ENTRIES', tenant: fixture.tenant.name, id: delivered()[0]!.id })
    expect(got[0]!.headers).toMatchObject({ authorization: 'Bearer token', 'x-muster-delivery': delivered()[0]!.id })
    expect(await stateOf(sink)).toMatchObject({ lastError: null, failingSince: null, deliveredSeq: delivered().at(-1)!.seq })
  })

  it('decrypts its secrets once per worker, so that deliveries do not cause deliveries', async () => {
    const { url, got } = await receiver(VERIFIERS.webhook(SECRET))
    const sink = await webhook(url)
    const one = worker()
    for (const name of names.slice(0, 5)) {
      await write([name])
      one.trigger()
      const { length } = got
      await expect.poll(() => got.length).toBeGreaterThan(length)
    }
    await sealAuditEntries(t.runtime)
    one.trigger()
    await expect.poll(async () => (await stateOf(sink)).deliveredSeq).toBe((await sealed()).length)
    expect((await sealed()).filter((entry) => entry.action === 'audit_sink.decrypt')).toHaveLength(1)
  })

  it('sends entries again until they are accepted, with the same IDs, also those of a killed worker', async () => {
    const { url, got } = await receiver((one, n) => (n <= 2 ? { status: 503 } : VERIFIERS.webhook(SECRET)(one)))
    await write(names)
    const sink = await webhook(url)
    await sealAuditEntries(t.runtime)
    const one = worker()
    await expect
      .poll(() => stateOf(sink))
      .toMatchObject({ lastError: expect.stringMatching(/responds with 503\.$/), attempts: 1 })
    // As if its worker had been killed in the middle of an attempt.
    await t.runtime.db
      .update(auditSinks)
      .set({ retryAt: null, leaseToken: sink.id, leasedUntil: sql`now() - interval '1 second'` })
    one.trigger()
    await expect.poll(() => stateOf(sink)).toMatchObject({ attempts: 2, failingSince: expect.any(Date), leaseToken: null })
    await t.runtime.db.update(auditSinks).set({ retryAt: null })
    one.trigger()
    await expect.poll(async () => (await stateOf(sink)).deliveredSeq).toBeGreaterThanOrEqual(names.length)
    const ids = bodies(got).map(({ entries }) => entries.map(({ id }) => id))
    expect(ids[1]).toEqual(ids[0]!.slice(0, ids[1]!.length))
    expect(ids[2]![0]).toBe(ids[0]![0])
  })

  it('a test has the shape of real entries and is not part of the chain', async () => {
    const { url, got } = await receiver((one, n) => (n === 1 ? { status: 404 } : VERIFIERS.webhook(SECRET)(one)))
    const sink = await webhook(url)
    const one = worker()
    for (const testError of [expect.stringMatching(/responds with 404/), null]) {
      await testAuditSink(fixture.owner, { id: sink.id })
      one.trigger()
      await expect.poll(() => stateOf(sink)).toMatchObject({ testedAt: expect.any(Date), testError })
    }
    await write(names.slice(0, 1))
    one.trigger()
    await expect.poll(() => got.length).toBeGreaterThan(2)
    const [test, , real] = bodies(got)
    expect(test).toMatchObject({ event: 'TEST', entries: [{ seq: null, hash: null }] })
    expect(Object.keys(test!.entries[0]!).sort()).toEqual(Object.keys(real!.entries[0]!).sort())
  })
})

describe('syslog', () => {
  let rsyslog: Awaited<ReturnType<typeof startRsyslog>>
  beforeAll(async () => {
    rsyslog = await startRsyslog()
  })
  afterAll(() => rsyslog?.stop())
  const messagesOf = () => rsyslog.messages().filter(({ sd }) => sd.includes(fixture.tenant.id))

  it('delivers entries to rsyslog over TLS in order, with structured data and at most 8 KiB each', async () => {
    const strange = 'a "quoted] \\ name\n ü 火'
    const sink = await syslog(rsyslog.port, { caCertificate: rsyslog.certificate })
    await write(names)
    await write([strange])
    await write(['large'], { text: '火'.repeat(5000) })
    worker()
    await expect.poll(async () => (await stateOf(sink)).deliveredSeq).toBe((await sealed()).length)
    await expect.poll(() => messagesOf().length).toBe((await sealed()).length)
    const rows = await sealed()
    const idOf = ({ sd }: { sd: string }) => /^\[muster@32473 id="([^"]+)"/.exec(sd)?.[1]
    expect(messagesOf().map(idOf)).toEqual(rows.map(({ id }) => id))
    const last = messagesOf().at(-3)!
    expect(last).toMatchObject({ pri: '110', host: 'muster.test', app: 'muster', msgid: 'node.update' })
    expect(new Date(last.time)).toEqual(rows.at(-3)!.createdAt)
    for (const part of [
      `tenantId="${fixture.tenant.id}"`,
      'tenant="Site \\"A\\"\\] ',
      'actorKind="user"',
      'action="node.update"',
      `objectId="${fixture.tenant.id}" object="node 29"`,
      'outcome="succeeded"',
    ])
      expect(last.sd).toContain(part)
    expect(messagesOf().at(-2)!.sd).toContain('object="a \\"quoted\\] \\\\ name  ü 火"')
    expect(JSON.parse(last.msg)).toEqual({ details: {} })
    expect(JSON.parse(messagesOf().at(-1)!.msg)).toEqual({ isCut: true })
  })

  it('rejects receivers that it cannot trust, and tells the next step', async () => {
    const plain = createServer((socket) => socket.end('hello\n'))
    plain.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const { port } = plain.address() as { port: number }
    const other = await startRsyslog()
    open.push(other, { stop: async () => void plain.close() })
    const cases: [Fields & { port: number }, RegExp][] = [
      [{ port: rsyslog.port }, /untrusted certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\); set the sink's CA certificate/],
      [{ port: rsyslog.port, caCertificate: other.certificate }, /untrusted certificate/],
      [
        { port: rsyslog.port, host: 'localhost', caCertificate: rsyslog.certificate },
        /for another name \(ERR_TLS_CERT_ALTNAME_INVALID\); use a name that it has/,
      ],
      [{ port }, /does not speak TLS/],
      [{ port: 1 }, /cannot be reached \(ECONNREFUSED\)/],
    ]
    const sinks: { id: string }[] = []
    for (const [{ port, ...fields }] of cases) sinks.push(await syslog(port, { ...fields, isEnabled: false }))
    for (const { id } of sinks) await testAuditSink(fixture.owner, { id })
    worker({ localTargets: [...LOOPBACK] })
    for (const [i, [, reason]] of cases.entries())
      await expect.poll(() => stateOf(sinks[i]!)).toMatchObject({ testError: expect.stringMatching(reason) })
    expect(messagesOf()).toEqual([])
  })

  it('keeps entries when the receiver ends before it has read them', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    open.push({ stop: async () => void silent.close() })
    silent.on('connection', (socket) => open.push({ stop: async () => void socket.destroy() }))
    const sink = await syslog((silent.address() as { port: number }).port)
    await write(names)
    worker({ timeoutMs: 50 })
    await expect
      .poll(() => stateOf(sink))
      .toMatchObject({
        lastError: expect.stringMatching(/did not accept the entries within 0.05 s/),
        deliveredSeq: 0,
      })
  })
})
