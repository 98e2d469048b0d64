import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { auditSinks, claimAuditSink, finishAuditDelivery } from '../../../../../../packages/core/src/audit-sinks/index.ts'
import { decryptSinkSecrets } from '../../../../../../packages/core/src/credentials/access.ts'
import type { TenantFixture } from '../../../../../../packages/core/src/testing/index.ts'
import { muster, startTestApi, type TestApi } from '../../../testing/muster.ts'

let t: TestApi
let fixture: TenantFixture
beforeAll(async () => {
  t = await startTestApi()
  fixture = await t.given.tenant()
  await t.signIn(fixture.owner)
})
afterAll(() => t?.close())

const sinkNamed = async (name: string) =>
  (await t.runtime.db.query.auditSinks.findFirst({ where: { tenantId: fixture.tenant.id, name } }))!

it('creates, updates, lists and deletes sinks with secrets from standard input', async () => {
  expect((await muster('audit sink list')).err).toContain('No audit sinks')
  const secrets = 'https://siem.test/hidden\na long secret\nBearer hidden too\n'
  expect(await muster('audit sink create siem webhook --authorization --stdin', secrets)).toMatchObject({ code: 0 })
  expect(await decryptSinkSecrets(fixture.worker, await sinkNamed('siem'))).toEqual({
    url: 'https://siem.test/hidden',
    secret: 'a long secret',
    authorization: 'Bearer hidden too',
  })
  expect((await muster('audit sink create logs syslog --host logs.test --existing')).code).toBe(0)
  const listed = (await muster('audit sink list')).out
  expect(listed).toMatch(/^siem +WEBHOOK +https:\/\/siem\.test +on +never/m)
  expect(listed).toMatch(/^logs +SYSLOG +logs\.test:6514 +on +never/m)
  expect(listed).not.toContain('hidden')
  const since = new Date('2026-05-01T10:00:00Z')
  await t.runtime.db.update(auditSinks).set({ behindSince: since, lastError: 'No.' })
  expect((await muster('audit sink list')).out).toMatch(/behind since 2026-05-01T10:00:00.000Z .* No\./)
  expect((await muster('audit sink update siem --no-authorization')).code).toBe(0)
  expect(await sinkNamed('siem')).toMatchObject({ encrypted: { url: expect.any(String) }, isEnabled: true })
  expect(Object.keys((await sinkNamed('siem')).encrypted)).toEqual(['url', 'secret'])
  expect((await muster('audit sink update logs --off --port 1514')).code).toBe(0)
  expect(await sinkNamed('logs')).toMatchObject({ isEnabled: false, settings: { port: 1514 } })
  const file = path.join(tmpdir(), `muster-ca-${process.pid}.pem`)
  writeFileSync(file, 'not a certificate')
  expect(await muster(`audit sink update logs --ca ${file}`)).toMatchObject({
    code: 5,
    err: expect.stringContaining('caCertificate: must be certificates in PEM'),
  })
  expect((await muster('audit sink delete logs')).err).toBe('Deleted logs.\n')
  expect(await muster('audit sink delete logs')).toMatchObject({
    code: 4,
    err: expect.stringContaining('No audit sink named logs'),
  })
})

it('waits for the outcome of a test', async () => {
  await muster('audit sink create tried syslog --host logs.test')
  for (const [outcome, answer] of [
    [null, { code: 0, err: 'Delivered to tried.\n' }],
    [{ error: 'It refuses.' }, { code: 5, err: 'Delivery to tried failed: It refuses.\n' }],
  ] as const) {
    const result = muster('audit sink test tried')
    const claimed = await vi.waitUntil(() => claimAuditSink(t.runtime), 120_000)
    await finishAuditDelivery(fixture.worker, claimed, outcome)
    expect(await result).toMatchObject(answer)
  }
})
