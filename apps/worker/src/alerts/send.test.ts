import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import {
  type AlertDelivery,
  type AlertSnapshot,
  type ClaimedDelivery,
  createAlertRoute,
  type RouteKind,
} from '@muster/core/alerts'
import type { Ctx } from '@muster/core/context'
import { outboundSettings } from '@muster/core/outbound'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createMailReceiver, createWebhookReceiver, type ReceiverReply, VERIFIERS } from '../testing/alert-receivers.ts'
import { send } from './send.ts'
import { truncate } from './webhook-formats.ts'

let t: TestRuntime
let tenantFixture: TenantFixture
let ctx: Ctx
let folder: string
let tls: { key: Buffer; cert: Buffer }
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-mail-'))
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=mail.test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem'
  execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
  tls = { key: readFileSync(path.join(folder, 'key.pem')), cert: readFileSync(path.join(folder, 'cert.pem')) }
  t = await testRuntime()
  tenantFixture = await t.given.tenant('Site <A> & @all')
  ctx = tenantFixture.worker
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await t?.close()
})
const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

const receiver = async (reply: Parameters<typeof createWebhookReceiver>[0]) => {
  const receiver = await createWebhookReceiver(reply)
  open.push(receiver)
  return receiver
}
const mailServer = async (options: Parameters<typeof createMailReceiver>[0] = {}) => {
  const receiver = await createMailReceiver({ ...tls, ...options })
  open.push(receiver)
  return receiver
}
const alertOf = (i: number, fields: Partial<AlertSnapshot> = {}): AlertSnapshot => ({
  id: `alert ${i}`,
  kind: 'offline',
  severity: 'critical',
  node: `gpu${String(i).padStart(3, '0')}`,
  cluster: '火山',
  openedAt: '2026-05-01T10:00:00.000Z',
  resolvedAt: null,
  count: 1,
  evidence: { silentSeconds: 301 },
  ...fields,
})
const LOCAL = outboundSettings.LOCAL_TARGETS.parse('127.0.0.0/8,::1,169.254.0.0/16')
let count = 0
type Fields = Partial<Parameters<typeof createAlertRoute>[1]>
async function message(kind: RouteKind, fields: Fields, delivery: Partial<AlertDelivery> = {}): Promise<ClaimedDelivery> {
  const route = await createAlertRoute(tenantFixture.admin, { name: `r${++count}`, kind, ...fields }, LOCAL)
  const base = { id: `01890000-0000-7000-8000-00000000000${count % 10}`, event: 'opened', alerts: [alertOf(1)], attempts: 1 }
  return {
    route,
    tenantName: tenantFixture.tenant.name,
    leaseToken: 'x',
    delivery: { ...base, createdAt: new Date('2026-05-01T10:00:01Z'), ...delivery } as AlertDelivery,
  }
}
const LIMITS = {
  link: 'https://muster.test/alerts',
  localTargets: LOOPBACK,
  timeoutMs: 20_000,
  signal: new AbortController().signal,
}
const deliver = (claimed: ClaimedDelivery, limits: Partial<typeof LIMITS> = {}) => send(ctx, claimed, { ...LIMITS, ...limits })

const SECRET = 'SEC0123456789'
const CASES = [
  ['webhook', '/hook', VERIFIERS.webhook(SECRET), SECRET],
  ['slack', '/services/T0/B0/x', VERIFIERS.slack(), null],
  ['dingtalk', '/robot/send?access_token=abc', VERIFIERS.dingtalk(SECRET), SECRET],
  ['feishu', '/open-apis/bot/v2/hook/abc', VERIFIERS.feishu(SECRET), SECRET],
  ['wecom', '/cgi-bin/webhook/send?key=abc', VERIFIERS.wecom(), null],
] as const

describe.each(CASES)('%s', (kind, where, check, secret) => {
  test('accepts an alert, a test and a batch of resolved alerts', async () => {
    const { url, got } = await receiver(check)
    const many = Array.from({ length: 500 }, (_, i) => alertOf(i, { resolvedAt: '2026-05-01T11:00:00.000Z' }))
    for (const delivery of [{}, { event: 'test', alerts: [] }, { event: 'resolved', alerts: many }] as const)
      expect(await deliver(await message(kind, { url: `${url}${where}`, secret }, delivery as Partial<AlertDelivery>))).toBeNull()
    const bodies = got.map(({ body }) => body)
    expect(bodies[0]).toContain('gpu001')
    expect(bodies[1]).toContain('test')
    expect(got[0]!.path).toBe(where.split('?')[0])
    expect(got[0]!.headers['content-type']).toMatch('application/json')
  })

  test.each([
    [{ status: 500 }, /responds with 500/, false],
    [{ status: 400 }, /responds with 400/, true],
    [{ status: 404 }, /responds with 404/, false],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /redirects \(302\)/, false],
  ] as [ReceiverReply, RegExp, boolean][])('reports a rejection %j', async (reply, why, isFinal) => {
    const { url, got } = await receiver(() => reply)
    const outcome = await deliver(await message(kind, { url: `${url}${where}`, secret }))
    expect(outcome).toMatchObject({ error: expect.stringMatching(why), isFinal })
    // The path of the URL is secret.
    expect(outcome!.error).not.toContain(where)
    expect(got).toHaveLength(1)
  })
})

test.each(CASES.filter(([, , , secret]) => secret))('%s rejects another secret', async (kind, where, check) => {
  const { url } = await receiver(check)
  const outcome = await deliver(await message(kind, { url: `${url}${where}`, secret: 'another secret' }))
  expect(outcome!.error).toMatch(/responds with 401|rejects the message: error (310000: sign not match|19021: sign match fail)/)
})

test('webhooks receive complete JSON with GraphQL enum values, a text, and a stable ID', async () => {
  const { url, got } = await receiver(VERIFIERS.webhook(SECRET))
  const claimed = await message('webhook', { url, secret: SECRET })
  await deliver(claimed)
  await deliver(claimed)
  expect(JSON.parse(got[0]!.body)).toEqual({
    id: claimed.delivery.id,
    event: 'OPENED',
    tenant: tenantFixture.tenant.name,
    createdAt: '2026-05-01T10:00:01.000Z',
    link: LIMITS.link,
    text: [
      '[Site <A> & @all] gpu001 is offline',
      'critical: gpu001 is offline (cluster 火山), since 2026-05-01 10:00 UTC',
      LIMITS.link,
    ].join('\n'),
    alerts: [{ ...alertOf(1), kind: 'OFFLINE', severity: 'CRITICAL' }],
  })
  expect(got.map(({ headers }) => headers['x-muster-delivery'])).toEqual([claimed.delivery.id, claimed.delivery.id])
  expect(got[1]!.body).toBe(got[0]!.body)
})

test('webhook test messages have the shape of real ones', async () => {
  const { url, got } = await receiver(VERIFIERS.webhook(SECRET))
  await deliver(await message('webhook', { url, secret: SECRET }))
  await deliver(await message('webhook', { url, secret: SECRET }, { event: 'test', alerts: [] }))
  const [real, example] = got.map(({ body }) => JSON.parse(body))
  expect(example).toMatchObject({ event: 'TEST', text: expect.stringContaining('This is a test') })
  expect(Object.keys(example)).toEqual(Object.keys(real))
  expect(example.alerts.map(Object.keys)).toEqual(real.alerts.map(Object.keys))
  expect(example.alerts).toMatchObject([{ kind: 'OFFLINE', severity: 'CRITICAL', node: 'example-node' }])
})

test('escapes names in chats: no markup and no mentions', async () => {
  const { url, got } = await receiver(VERIFIERS.slack())
  await deliver(await message('slack', { url }, { alerts: [alertOf(1, { cluster: '<!channel>' })] }))
  const { text } = JSON.parse(got[0]!.body)
  expect(text).toBe(
    [
      '[Site &lt;A&gt; &amp; @\u200ball] gpu001 is offline',
      'critical: gpu001 is offline (cluster &lt;!channel&gt;), since 2026-05-01 10:00 UTC',
      'https://muster.test/alerts',
    ].join('\n'),
  )
})

test('lists the most severe alerts in chats and counts the rest', async () => {
  const { url, got } = await receiver(VERIFIERS.feishu(SECRET))
  const mild = Array.from({ length: 30 }, (_, i) => alertOf(i, { kind: 'stale', severity: 'warning' }))
  await deliver(await message('feishu', { url, secret: SECRET }, { alerts: [...mild, alertOf(77)] }))
  const lines = JSON.parse(got[0]!.body).content.text.split('\n')
  expect(lines[0]).toMatch(/31 alerts: 1 critical, 30 warning$/)
  expect(lines[1]).toBe('critical: gpu077 is offline (cluster 火山), since 2026-05-01 10:00 UTC')
  expect(lines.slice(-2)).toEqual(['and 11 more', LIMITS.link])
})

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, '…'],
  ['火火火', 8, '火…'],
])('truncates %s to %d bytes', (text, most, short) => {
  expect(truncate(text, most)).toBe(short)
})

test('honors Retry-After', async () => {
  const { url } = await receiver(() => ({ status: 429, headers: { 'retry-after': '77' } }))
  expect(await deliver(await message('slack', { url }))).toMatchObject({ retryAfterMs: 77_000, isFinal: false })
})

test('handles receivers that do not respond, send no JSON, or send too much', async () => {
  const silent = await receiver(() => 'never')
  const outcome = await deliver(await message('slack', { url: silent.url }), { timeoutMs: 100 })
  expect(outcome!.error).toMatch(/^http:\/\/127.0.0.1:\d+ did not respond within 0.1 s.$/)
  const other = await receiver(() => ({ body: '<html>' }))
  expect((await deliver(await message('wecom', { url: `${other.url}/?key=a` })))!.error).toMatch(/does not respond like wecom/)
  const endless = await receiver(() => ({ body: 'x'.repeat(10_000_000) }))
  expect(await deliver(await message('webhook', { url: endless.url, secret: SECRET }))).toBeNull()
  const stopping = AbortSignal.abort(new Error('The worker stopped.'))
  expect(await deliver(await message('slack', { url: silent.url }), { signal: stopping })).toMatchObject({
    error: 'The worker stopped.',
  })
})

test('reports secrets that cannot be decrypted with the next step', async () => {
  const claimed = await message('slack', { url: 'https://hooks.test/' })
  const other = await message('slack', { url: 'https://hooks.test/' })
  const moved = { ...claimed, route: { ...claimed.route, encrypted: other.route.encrypted } }
  expect((await deliver(moved))!.error).toMatch(/cannot be decrypted. Save its address and secret again/)
})

test('rejects loopback and link-local addresses in any notation, unless allowed', async () => {
  const { url, got } = await receiver(() => ({}))
  const { port } = new URL(url)
  const mail = await mailServer()
  const rejected = [
    await message('webhook', { url, secret: SECRET }),
    await message('slack', { url: `http://localhost:${port}/` }),
    await message('slack', { url: `http://2130706433:${port}/` }),
    await message('slack', { url: `http://0x7f.1:${port}/` }),
    await message('slack', { url: `http://[::ffff:127.0.0.1]:${port}/` }),
    await message('slack', { url: 'http://169.254.169.254/latest/meta-data/' }),
    await message('email', { host: '127.0.0.1', port: mail.port, security: 'none', from: 'a@b.test', to: ['c@d.test'] }),
  ]
  for (const one of rejected)
    expect((await deliver(one, { localTargets: [] }))!.error).toMatch(
      /an address of the worker's own machine, its link, or a metadata service/,
    )
  expect([got.length, mail.mails.length]).toEqual([0, 0])
  expect((await deliver(await message('slack', { url: `http://${'x'.repeat(64)}.test/` })))!.error).toMatch(/cannot be resolved/)
})

describe('email', () => {
  const MAIL = { host: '127.0.0.1', from: 'muster@site.test', to: ['ops@site.test', 'duty@site.test'] }
  test('is sent to all recipients with a stable Message-ID', async () => {
    const { port, mails } = await mailServer({ disabledCommands: ['STARTTLS', 'AUTH'] })
    const claimed = await message('email', { ...MAIL, port, security: 'none' }, { alerts: [alertOf(1), alertOf(2)] })
    expect(await deliver(claimed)).toBeNull()
    expect(mails).toMatchObject([{ from: MAIL.from, to: MAIL.to }])
    const { text } = mails[0]!
    expect(text).toContain(`Message-ID: <${claimed.delivery.id}@site.test>`)
    expect(text).toContain('Auto-Submitted: auto-generated')
    expect(text).toMatch(/Subject: .*2 alerts: 2 critical/)
    expect(text).toContain('To: ops@site.test, duty@site.test')
  })

  test('never falls back to plain text when TLS is required, and rejects unknown certificates', async () => {
    const plain = await mailServer({ disabledCommands: ['STARTTLS', 'AUTH'] })
    expect((await deliver(await message('email', { ...MAIL, port: plain.port })))!.error).toMatch(/offers no TLS/)
    const self = await mailServer()
    expect((await deliver(await message('email', { ...MAIL, port: self.port })))!.error).toMatch(/untrusted certificate/)
    const direct = await mailServer({ secure: true })
    expect((await deliver(await message('email', { ...MAIL, port: direct.port, security: 'tls' })))!.error).toMatch(
      /untrusted certificate/,
    )
    expect([plain, self, direct].flatMap(({ mails }) => mails)).toEqual([])
  })

  test('signs in over trusted TLS and reports a wrong password', async () => {
    const trusted = getCACertificates('default')
    setDefaultCACertificates([...trusted, tls.cert.toString()])
    try {
      for (const security of ['starttls', 'tls'] as const) {
        const { port, mails } = await mailServer({
          secure: security === 'tls',
          authOptional: false,
          onAuth: ({ username, password }, _session, done) =>
            password === 'correct horse' ? done(null, { user: username }) : done(new Error('no')),
        })
        const login = { ...MAIL, port, security, username: 'muster' }
        expect(await deliver(await message('email', { ...login, secret: 'correct horse' }))).toBeNull()
        expect(mails).toMatchObject([{ user: 'muster', isSecure: true }])
        const { error } = (await deliver(await message('email', { ...login, secret: 'battery staple' })))!
        expect(error).toBe(`The mail server 127.0.0.1:${port} rejects the username or password (535).`)
      }
    } finally {
      setDefaultCACertificates(trusted)
    }
  })

  test('distinguishes permanent, temporary and connection failures', async () => {
    const answers = { final: 550, later: 451 }
    for (const [what, responseCode] of Object.entries(answers)) {
      const { port } = await mailServer({
        disabledCommands: ['STARTTLS', 'AUTH'],
        onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode })),
      })
      expect(await deliver(await message('email', { ...MAIL, port, security: 'none' }))).toMatchObject({
        error: `The mail server 127.0.0.1:${port} responds with ${responseCode}.`,
        isFinal: what === 'final',
      })
    }
    const gone = await mailServer()
    await gone.stop()
    open.pop()
    const outcome = await deliver(await message('email', { ...MAIL, port: gone.port, security: 'none' }))
    expect(outcome!.error).toMatch(/cannot be reached/)
  })
})
