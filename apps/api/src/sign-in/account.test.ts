import { schema } from '@muster/core/registry'
import { and, asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEER } from '../http/request-facts.ts'
import type { Mail, Mailer } from '../mail/mailer.ts'
import { AUTH_SECRET, PUBLIC_URL, testApi } from '../testing/api.ts'
import { mutate } from '../testing/mutate.ts'
import { insertSession } from '../testing/sessions.ts'
import { createAuth } from './auth.ts'

const { accounts, auditEntries, members, sessions, users, verifications } = schema
const PASSWORD = 'correct horse battery'

let t: Awaited<ReturnType<typeof testApi>>
const mails: Mail[] = []
beforeAll(async () => {
  const mailer = { send: async (mail: Mail) => void mails.push(mail) } as unknown as Mailer
  t = await testApi({ mailer })
})
afterAll(() => t?.close())

let number = 0
/** A member of a new tenant with a password, and a session. */
async function createUser({ hasPassword = true } = {}) {
  const email = `user${++number}@muster.test`
  const { id } = await t.auth.ensureUser(email, 'Ada')
  const { tenant } = await t.given.tenant()
  await t.runtime.db.insert(members).values({ tenantId: tenant.id, userId: id, role: 'viewer' })
  const { token, id: sessionId } = await insertSession(t.runtime.db, id)
  const as = { headers: { [PEER]: `203.0.113.${number}`, authorization: `Bearer ${token}` } }
  if (hasPassword) await mutate(t, as, 'setPassword', '', { password: PASSWORD })
  return { id, email, tenantId: tenant.id, sessionId, as }
}
const userOf = async (id: string) => (await t.runtime.db.query.users.findFirst({ where: { id } }))!
const rowsOf = (objectId: string, action: string) =>
  t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.objectId, objectId), eq(auditEntries.action, action)))
    .orderBy(asc(auditEntries.id))
const tokenIn = ({ text }: Mail) => /#token=(\S+)/.exec(text)![1]!

test('a new password ends the other sessions, and is recorded with the changes in each tenant of the user', async () => {
  const { id, as, sessionId, tenantId } = await createUser({ hasPassword: false })
  const other = await t.given.tenant()
  await t.runtime.db.insert(members).values({ tenantId: other.tenant.id, userId: id, role: 'viewer' })
  await insertSession(t.runtime.db, id)
  const input = { password: PASSWORD, name: 'Ada Lovelace' }
  expect((await mutate(t, as, 'setPassword', 'viewer { name }', input)).viewer).toEqual({ name: 'Ada Lovelace' })
  const left = await t.runtime.db.select().from(sessions).where(eq(sessions.userId, id))
  expect(left.map((session) => session.id)).toEqual([sessionId])
  const rows = await rowsOf(id, 'user.set_password')
  expect(rows.map((row) => row.tenantId).sort()).toEqual([tenantId, other.tenant.id].sort())
  for (const row of rows)
    expect(row).toMatchObject({
      actorId: id,
      before: { name: 'Ada' },
      after: { name: 'Ada Lovelace' },
      requestId: expect.any(String),
    })
  const [account] = await t.runtime.db.select().from(accounts).where(eq(accounts.userId, id))
  expect(JSON.stringify(rows)).not.toContain(account!.password)
})

test('an invalid field changes nothing, the password included', async () => {
  const { id, as } = await createUser()
  const [before] = await t.runtime.db.select().from(accounts).where(eq(accounts.userId, id))
  const input = { password: 'another long password', currentPassword: PASSWORD }
  for (const [field, value] of [
    ['name', 'x\ny'],
    ['email', 'foreign@muster.test'],
    ['email', 'no address'],
  ] as const)
    expect(await mutate(t, as, 'setPassword', '', { ...input, [field]: value })).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: expect.stringContaining(field) }],
    })
  expect((await t.runtime.db.select().from(accounts).where(eq(accounts.userId, id)))[0]).toEqual(before)
})

test('only an installation administrator who cannot sign in yet chooses the address with the password', async () => {
  const { id, as, email } = await createUser({ hasPassword: false })
  const taken = await createUser()
  const choose = (address: string) =>
    mutate(t, as, 'setPassword', 'viewer { user { email } }', { password: PASSWORD, email: address })
  const chooses = async () =>
    (await t.ask<{ viewer: { choosesEmail: boolean } }>(as, '{ viewer { choosesEmail } }')).viewer.choosesEmail
  expect(await chooses()).toBe(false)
  expect(await choose('chosen@muster.test')).toMatchObject({ issues: [{ path: 'input.email' }] })
  await t.runtime.db.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, id))
  t.auth.clearCallerCache()
  expect(await chooses()).toBe(true)
  expect(await choose(taken.email.toUpperCase())).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: 'input.email', message: 'belongs to another user' }],
  })
  expect(await t.runtime.db.$count(accounts, eq(accounts.userId, id))).toBe(0)
  expect((await choose('Chosen@muster.test')).viewer).toEqual({ user: { email: 'chosen@muster.test' } })
  expect(await userOf(id)).toMatchObject({ emailVerified: false })
  expect((await rowsOf(id, 'user.set_password'))[0]).toMatchObject({ before: { email }, after: { email: 'chosen@muster.test' } })
  expect(await choose('again@muster.test')).toMatchObject({ __typename: 'InvalidInputError' })
})

test('an address changes with the link that was sent to it, once, and only for the user who asked', async () => {
  const ada = await createUser()
  const eve = await createUser()
  mails.length = 0
  const request = (input: object) => mutate(t, ada.as, 'requestEmailChange', 'email', input)
  const confirm = (token: string, { as } = ada) => mutate(t, as, 'confirmEmailChange', 'viewer { user { email } }', { token })
  const input = { email: 'New@muster.test', currentPassword: PASSWORD }
  expect(await request({ ...input, currentPassword: 'wrong' })).toMatchObject({ issues: [{ path: 'input.currentPassword' }] })
  expect(await request({ ...input, email: 'no address' })).toMatchObject({ issues: [{ path: 'email' }] })
  expect(mails).toEqual([])
  expect(await request(input)).toMatchObject({ email: 'new@muster.test' })
  expect(mails).toMatchObject([{ to: 'new@muster.test' }])
  const token = tokenIn(mails[0]!)
  expect(JSON.stringify(await t.runtime.db.select().from(verifications))).not.toContain(token)
  expect((await userOf(ada.id)).email).toBe(ada.email)
  // Whoever else opens the link gives their address to nobody.
  expect((await confirm(token, eve)).__typename).toBe('NotFoundError')
  expect((await confirm('mse_wrong')).__typename).toBe('NotFoundError')
  expect((await userOf(ada.id)).email).toBe(ada.email)

  expect((await confirm(token)).viewer).toEqual({ user: { email: 'new@muster.test' } })
  expect(await userOf(ada.id)).toMatchObject({ email: 'new@muster.test', emailVerified: true })
  expect(mails[1]).toMatchObject({ to: ada.email, text: expect.stringContaining('new@muster.test') })
  expect((await confirm(token)).__typename).toBe('NotFoundError')
  const [row] = await rowsOf(ada.id, 'user.change_email')
  expect(row).toMatchObject({ tenantId: ada.tenantId, before: { email: ada.email }, after: { email: 'new@muster.test' } })
  expect(await rowsOf(ada.id, 'user.request_email_change')).toMatchObject([{ details: { email: 'new@muster.test' } }])
})

test('a link expires, is replaced by the next one, and does not take the address of another account', async () => {
  const { id, as, email } = await createUser()
  const taken = await createUser()
  const request = (address: string) =>
    mutate(t, as, 'requestEmailChange', 'email', { email: address, currentPassword: PASSWORD }).then(() => tokenIn(mails.at(-1)!))
  const confirm = async (token: string) => (await mutate(t, as, 'confirmEmailChange', '', { token })).__typename
  const first = await request('first@muster.test')
  const second = await request('second@muster.test')
  expect(await confirm(first)).toBe('NotFoundError')
  await t.runtime.db.update(verifications).set({ expiresAt: sql`now()` })
  expect(await confirm(second)).toBe('NotFoundError')
  // The response does not reveal that the address has an account.
  expect(await confirm(await request(taken.email))).toBe('ConflictError')
  expect(await userOf(id)).toMatchObject({ email })
})

test('without a mail server, the API changes no address and says what does', async () => {
  const { as } = await createUser()
  const { db, log } = t.runtime
  const withoutMail = createAuth({ db, log, secret: AUTH_SECRET, publicUrl: PUBLIC_URL })
  expect(withoutMail.changeEmailBlockedReason).toContain('bin/muster-admin change-email')
  expect((await t.ask<{ viewer: object }>(as, '{ viewer { changeEmailBlockedReason } }')).viewer).toEqual({
    changeEmailBlockedReason: null,
  })
})
