import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { mailSettings } from '@muster/core/access'
import { loadConfig } from '@muster/core/config'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createMailReceiver } from '../testing/mail-receiver.ts'
import { createMailer } from './mailer.ts'

const MAIL = { to: 'ada@site.test', subject: 'Hello', text: 'https://muster.test/invitation#token=secret\n' }
const PASSWORD = 'p4ss word'

let folder: string
let tls: { key: Buffer; cert: Buffer }
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-mailer-'))
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=mail.test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem'
  execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
  tls = { key: readFileSync(path.join(folder, 'key.pem')), cert: readFileSync(path.join(folder, 'cert.pem')) }
  writeFileSync(path.join(folder, 'password'), `${PASSWORD}\n`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

async function server(options: Parameters<typeof createMailReceiver>[0]) {
  const receiver = await createMailReceiver(options)
  open.push(receiver)
  return receiver
}
const mailer = (env: Record<string, string>) => createMailer(loadConfig(env, mailSettings), 'https://muster.test')!
const trusted = async <T>(work: () => Promise<T>): Promise<T> => {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, tls.cert.toString()])
  try {
    return await work()
  } finally {
    setDefaultCACertificates(before)
  }
}

test.each(['smtp', 'smtps'])('sends over %s, encrypted and with the password of the file', async (protocol) => {
  const { mails, port } = await server({
    ...tls,
    secure: protocol === 'smtps',
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      username === 'muster@site' && password === PASSWORD ? done(null, { user: username }) : done(new Error('no')),
  })
  const env = {
    SMTP_URL: `${protocol}://muster%40site@127.0.0.1:${port}`,
    SMTP_PASSWORD_FILE: path.join(folder, 'password'),
    MAIL_FROM: 'cluster@site.test',
  }
  await trusted(() => mailer(env).send(MAIL))
  expect(mails).toMatchObject([{ to: ['ada@site.test'], isSecure: true, user: 'muster@site' }])
  expect(mails[0]!.text).toContain(MAIL.text.trim())
  expect(mails[0]!.text).toMatch(/^From: Muster <cluster@site.test>\r$/m)
})

test('does not send a secret link without encryption or to an untrusted server', async () => {
  const plain = await server({ disabledCommands: ['STARTTLS'] })
  await expect(mailer({ SMTP_URL: `smtp://127.0.0.1:${plain.port}` }).send(MAIL)).rejects.toThrow(/mail server/)
  const untrusted = await server(tls)
  await expect(mailer({ SMTP_URL: `smtp://127.0.0.1:${untrusted.port}` }).send(MAIL)).rejects.toThrow(
    /127\.0\.0\.1 presents an untrusted certificate/,
  )
  expect([plain.mails, untrusted.mails]).toEqual([[], []])
  await mailer({ SMTP_URL: `smtp+plain://127.0.0.1:${plain.port}` }).send(MAIL)
  expect(plain.mails).toHaveLength(1)
})

test('sends to exactly one address, and adds no headers', async () => {
  const { mails, port } = await server({ disabledCommands: ['STARTTLS'] })
  const { send } = mailer({ SMTP_URL: `smtp+plain://127.0.0.1:${port}` })
  await send({ ...MAIL, to: 'ada@site.test', subject: 'Invitation to x\r\nBcc: eve@evil.test\r\n' })
  await send({ ...MAIL, to: 'ada@site.test, eve@evil.test' }).catch(() => {})
  expect(mails.flatMap(({ to }) => to).filter((to) => to === 'eve@evil.test')).toEqual([])
})

test('errors have a next step, and quote neither password nor link', async () => {
  const { port } = await server({ disabledCommands: ['STARTTLS'], onAuth: (_auth, _session, done) => done(new Error('no')) })
  const env = { SMTP_URL: `smtp+plain://me@127.0.0.1:${port}`, SMTP_PASSWORD_FILE: path.join(folder, 'password') }
  const error = await mailer(env)
    .send(MAIL)
    .catch((e: Error) => e.message)
  expect(error).toMatch(/rejects the user name or password/)
  expect(error).not.toMatch(/p4ss|token/)
  await expect(mailer({ SMTP_URL: 'smtp://127.0.0.1:1' }).send(MAIL)).rejects.toThrow(/cannot be reached \(ECONNREFUSED|ESOCKET/)
})

test('the system check signs in at the mail server, and states what to correct', async () => {
  const options = { disabledCommands: ['STARTTLS' as const], authOptional: false }
  const accepting = await server({ ...options, onAuth: (_auth, _session, done) => done(null, { user: 'me' }) })
  const refusing = await server({ ...options, onAuth: (_auth, _session, done) => done(new Error('no')) })
  const check = (port: number) =>
    mailer({ SMTP_URL: `smtp+plain://me@127.0.0.1:${port}`, SMTP_PASSWORD_FILE: path.join(folder, 'password') }).check()
  expect(await check(accepting.port)).toMatchObject({ check: 'MAIL', severity: 'OK', nextStep: null })
  expect(accepting.mails).toEqual([])
  for (const [port, reason] of [
    [refusing.port, /rejects the user name or password/],
    [1, /cannot be reached/],
  ] as const)
    expect(await check(port)).toEqual({
      check: 'MAIL',
      severity: 'ERROR',
      message: expect.stringMatching(reason),
      nextStep: 'Correct SMTP_URL and SMTP_PASSWORD_FILE, then restart the API.',
    })
})

test('rejects a password in SMTP_URL without repeating it, and sends nothing without SMTP_URL', () => {
  expect(() => mailer({ SMTP_URL: 'smtp://me:s3cret@mail.test' })).toThrow(/SMTP_PASSWORD_FILE/)
  expect(() => mailer({ SMTP_URL: 'smtp://me:s3cret@mail.test' })).not.toThrow(/s3cret/)
  expect(() => mailer({ SMTP_URL: 'http://mail.test' })).toThrow(/must look like smtp/)
  expect(mailer({})).toBeNull()
})
