import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type AlertDelivery, type ClaimedDelivery, createAlertRoute, type RouteKind, type ToldAlert } from '@muster/core/alerts'
import type { Ctx } from '@muster/core/context'
import { type Cast, type TestRuntime, testRuntime } from '@muster/core/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CHECKS, hookReceiver, mailReceiver, type Reply } from '../testing/alert-receivers.ts'
import { cut } from './hooks.ts'
import { isLocal } from './reach.ts'
import { send } from './send.ts'

let t: TestRuntime
let cast: Cast
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
  cast = await t.given.tenant('Site <A> & @all')
  ctx = cast.worker
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await t?.close()
})
const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

const receiver = async (reply: Parameters<typeof hookReceiver>[0]) => {
  const made = await hookReceiver(reply)
  open.push(made)
  return made
}
const mailServer = async (options: Parameters<typeof mailReceiver>[0] = {}) => {
  const made = await mailReceiver({ ...tls, ...options })
  open.push(made)
  return made
}
const alertOf = (i: number, fields: Partial<ToldAlert> = {}): ToldAlert => ({
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
let count = 0
type Fields = Partial<Parameters<typeof createAlertRoute>[1]>
async function message(kind: RouteKind, fields: Fields, delivery: Partial<AlertDelivery> = {}): Promise<ClaimedDelivery> {
  const route = await createAlertRoute(cast.admin, { name: `r${++count}`, kind, ...fields })
  const base = { id: `01890000-0000-7000-8000-00000000000${count % 10}`, event: 'opened', alerts: [alertOf(1)], attempts: 1 }
  return {
    route,
    tenantName: cast.tenant.name,
    leaseToken: 'x',
    delivery: { ...base, createdAt: new Date('2026-05-01T10:00:01Z'), ...delivery } as AlertDelivery,
  }
}
const LIMITS = {
  link: 'https://muster.test/alerts',
  allowLocal: true,
  timeoutMs: 20_000,
  signal: new AbortController().signal,
}
const deliver = (claimed: ClaimedDelivery, limits: Partial<typeof LIMITS> = {}) => send(ctx, claimed, { ...LIMITS, ...limits })

const SECRET = 'SEC0123456789'
const CASES = [
  ['webhook', '/hook', CHECKS.webhook(SECRET), SECRET],
  ['slack', '/services/T0/B0/x', CHECKS.slack(), null],
  ['dingtalk', '/robot/send?access_token=abc', CHECKS.dingtalk(SECRET), SECRET],
  ['feishu', '/open-apis/bot/v2/hook/abc', CHECKS.feishu(SECRET), SECRET],
  ['wecom', '/cgi-bin/webhook/send?key=abc', CHECKS.wecom(), null],
] as const

describe.each(CASES)('%s', (kind, where, check, secret) => {
  test('takes an alert, a test and the end of many', async () => {
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
    [{ status: 500 }, /answers with 500/, false],
    [{ status: 400 }, /answers with 400/, true],
    [{ status: 404 }, /answers with 404/, false],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /sends us elsewhere \(302\)/, false],
  ] as [Reply, RegExp, boolean][])('a refusal %j is told', async (reply, why, isFinal) => {
    const { url, got } = await receiver(() => reply)
    const outcome = await deliver(await message(kind, { url: `${url}${where}`, secret }))
    expect(outcome).toMatchObject({ error: expect.stringMatching(why), isFinal })
    // What is secret in the address is not told.
    expect(outcome!.error).not.toContain(where)
    expect(got).toHaveLength(1)
  })
})

test.each(CASES.filter(([, , , secret]) => secret))('%s refuses another secret', async (kind, where, check) => {
  const { url } = await receiver(check)
  const outcome = await deliver(await message(kind, { url: `${url}${where}`, secret: 'another secret' }))
  expect(outcome!.error).toMatch(/answers with 401|does not take it: error (310000: sign not match|19021: sign match fail)/)
})

test('a webhook gets all that is known, in JSON, and the same id each time', async () => {
  const { url, got } = await receiver(CHECKS.webhook(SECRET))
  const claimed = await message('webhook', { url, secret: SECRET })
  await deliver(claimed)
  await deliver(claimed)
  expect(JSON.parse(got[0]!.body)).toEqual({
    id: claimed.delivery.id,
    event: 'opened',
    tenant: cast.tenant.name,
    createdAt: '2026-05-01T10:00:01.000Z',
    link: LIMITS.link,
    alerts: [alertOf(1)],
  })
  expect(got.map(({ headers }) => headers['x-muster-delivery'])).toEqual([claimed.delivery.id, claimed.delivery.id])
  expect(got[1]!.body).toBe(got[0]!.body)
})

test('what names say is text in a chat: no markup, and nobody is called', async () => {
  const { url, got } = await receiver(CHECKS.slack())
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

test('a chat shows the worst alerts and counts the rest', async () => {
  const { url, got } = await receiver(CHECKS.feishu(SECRET))
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
])('cuts %s to %d bytes', (text, most, short) => {
  expect(cut(text, most)).toBe(short)
})

test('a receiver that says when to come again is obeyed', async () => {
  const { url } = await receiver(() => ({ status: 429, headers: { 'retry-after': '77' } }))
  expect(await deliver(await message('slack', { url }))).toMatchObject({ retryAfterMs: 77_000, isFinal: false })
})

test('a receiver that keeps silent, says no JSON, or too much', async () => {
  const silent = await receiver(() => 'never')
  const outcome = await deliver(await message('slack', { url: silent.url }), { timeoutMs: 100 })
  expect(outcome!.error).toMatch(/^http:\/\/127.0.0.1:\d+ did not answer within 0.1 s.$/)
  const other = await receiver(() => ({ body: '<html>' }))
  expect((await deliver(await message('wecom', { url: `${other.url}/?key=a` })))!.error).toMatch(/is no answer of wecom/)
  const endless = await receiver(() => ({ body: 'x'.repeat(10_000_000) }))
  expect(await deliver(await message('webhook', { url: endless.url, secret: SECRET }))).toBeNull()
  const stopping = AbortSignal.abort(new Error('The worker stopped.'))
  expect(await deliver(await message('slack', { url: silent.url }), { signal: stopping })).toMatchObject({
    error: 'The worker stopped.',
  })
})

test('a route whose records do not open says what to do', async () => {
  const claimed = await message('slack', { url: 'https://hooks.test/' })
  const other = await message('slack', { url: 'https://hooks.test/' })
  const moved = { ...claimed, route: { ...claimed.route, sealed: other.route.sealed } }
  expect((await deliver(moved))!.error).toMatch(/does not open; save its address and secret again/)
})

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '169.254.169.254',
  '100.100.100.200',
  '::1',
  '::',
  'fe80::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'fd00:ec2::254',
  '224.0.0.1',
  '255.255.255.255',
])('%s is local', (address) => {
  expect(isLocal(address)).toBe(true)
})
test.each(['10.0.0.1', '100.100.100.201', '192.168.1.1', '8.8.8.8', 'fd00::1', '2001:db8::1'])('%s is not', (address) => {
  expect(isLocal(address)).toBe(false)
})

test('nothing goes to the own machine or link unless that is allowed, however the address is written', async () => {
  const { url, got } = await receiver(() => ({}))
  const { port } = new URL(url)
  const mail = await mailServer()
  const refused = [
    await message('webhook', { url, secret: SECRET }),
    await message('slack', { url: `http://localhost:${port}/` }),
    await message('slack', { url: `http://2130706433:${port}/` }),
    await message('slack', { url: `http://0x7f.1:${port}/` }),
    await message('slack', { url: `http://[::ffff:127.0.0.1]:${port}/` }),
    await message('slack', { url: 'http://169.254.169.254/latest/meta-data/' }),
    await message('email', { host: '127.0.0.1', port: mail.port, security: 'none', from: 'a@b.test', to: ['c@d.test'] }),
  ]
  for (const one of refused)
    expect((await deliver(one, { allowLocal: false }))!.error).toMatch(/is an address of the worker's own machine or link/)
  expect([got.length, mail.mails.length]).toEqual([0, 0])
  expect((await deliver(await message('slack', { url: `http://${'x'.repeat(64)}.test/` })))!.error).toMatch(/cannot be resolved/)
})

describe('email', () => {
  const MAIL = { host: '127.0.0.1', from: 'muster@site.test', to: ['ops@site.test', 'duty@site.test'] }
  test('goes to all, with an id that stays the same', async () => {
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

  test('never falls back to plain text where TLS is asked for, and does not trust any certificate', async () => {
    const plain = await mailServer({ disabledCommands: ['STARTTLS', 'AUTH'] })
    expect((await deliver(await message('email', { ...MAIL, port: plain.port })))!.error).toMatch(/offers no TLS/)
    const self = await mailServer()
    expect((await deliver(await message('email', { ...MAIL, port: self.port })))!.error).toMatch(
      /certificate that is not trusted/,
    )
    const direct = await mailServer({ secure: true })
    expect((await deliver(await message('email', { ...MAIL, port: direct.port, security: 'tls' })))!.error).toMatch(
      /certificate that is not trusted/,
    )
    expect([plain, self, direct].flatMap(({ mails }) => mails)).toEqual([])
  })

  test('signs in over TLS that it trusts, and says when the password is wrong', async () => {
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
        expect(error).toBe(`The mail server 127.0.0.1:${port} refuses the username or its password (535).`)
      }
    } finally {
      setDefaultCACertificates(trusted)
    }
  })

  test('a server that refuses a receiver for good, for now, or is not there', async () => {
    const answers = { final: 550, later: 451 }
    for (const [what, responseCode] of Object.entries(answers)) {
      const { port } = await mailServer({
        disabledCommands: ['STARTTLS', 'AUTH'],
        onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode })),
      })
      expect(await deliver(await message('email', { ...MAIL, port, security: 'none' }))).toMatchObject({
        error: `The mail server 127.0.0.1:${port} answers with ${responseCode}.`,
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
