import { hashToken } from '@muster/core/access'
import { schema } from '@muster/core/registry'
import { desc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEER } from '../http/request-facts.ts'
import { AUTH_SECRET, testApi } from '../testing/api.ts'
import { insertSession } from '../testing/sessions.ts'
import { totpCode } from '../testing/totp.ts'
import { reencryptSecondFactors } from './reencrypt-second-factors.ts'

const PASSWORD = 'correct horse battery'
let t: Awaited<ReturnType<typeof testApi>>
beforeAll(async () => {
  t = await testApi()
})
afterAll(() => t?.close())

let users = 0
let email: string
let userId: string
let session: string
beforeEach(async () => {
  email = `user${++users}@muster.test`
  const { tenant } = await t.given.tenant()
  userId = (await t.auth.ensureUser(email, 'Test')).id
  await t.runtime.db.insert(schema.members).values({ userId, tenantId: tenant.id, role: 'viewer' })
  session = (await insertSession(t.runtime.db, userId)).token
  await call('setPassword', { password: PASSWORD })
})

type Result = {
  __typename: string
  message: string
  challenge: string
  sessionToken: string
  uri: string
  recoveryCodes: string[]
}
const PAYLOADS: Record<string, string> = {
  startTotp: 'uri recoveryCodes',
  replaceRecoveryCodes: 'recoveryCodes',
  setPassword: 'viewer { name }',
}
let addresses = 0
async function call(name: string, input: object, token: string | null = session) {
  const type = name[0]!.toUpperCase() + name.slice(1)
  const { it } = await t.ask<{ it: Result }>(
    { headers: { [PEER]: `203.0.113.${++addresses}`, ...(token && { authorization: `Bearer ${token}` }) } },
    `mutation ($input: ${type}Input!) { it: ${name}(input: $input) { __typename
      ... on ${type}Payload { ${PAYLOADS[name] ?? 'sessionToken viewer { name hasSecondFactor }'} }
      ... on Error { message } ${name === 'signIn' ? '... on SecondFactorRequiredError { challenge }' : ''} } }`,
    { input },
  )
  return it
}
const signIn = () => call('signIn', { email, password: PASSWORD }, null)
const verify = (challenge: string, code: string) => call('verifySecondFactor', { challenge, code }, null)
/** Turns the second factor on. */
async function setUp() {
  const { uri, recoveryCodes } = await call('startTotp', { currentPassword: PASSWORD })
  const confirmed = await call('confirmTotp', { code: totpCode(uri, Date.now() - 30_000) })
  session = confirmed.sessionToken
  return { uri, recoveryCodes }
}

describe('the audit log', () => {
  /** Makes the insert of successful entries of this action fail. */
  const rejectEntries = (action: string) =>
    t.asOwner(`create function test_reject_entry() returns trigger language plpgsql as
        $$ begin raise exception 'rejected'; end $$;
      create trigger test_reject_entry before insert on audit_entries for each row
        when (new.outcome = 'succeeded' and new.action = '${action}') execute function test_reject_entry()`)
  const acceptEntries = () => t.asOwner('drop trigger test_reject_entry on audit_entries; drop function test_reject_entry')
  const countSessions = () => t.runtime.db.$count(schema.sessions, eq(schema.sessions.userId, userId))
  const isOn = async () => (await t.runtime.db.query.users.findFirst({ where: { id: userId } }))!.twoFactorEnabled
  const FAILS = /Internal|rejected/i

  test('without an entry, nobody is signed in', async () => {
    await rejectEntries('session.create')
    await expect(signIn()).rejects.toThrow(FAILS)
    await acceptEntries()
    expect(await countSessions()).toBe(1)
    expect((await signIn()).__typename).toBe('SignInPayload')
  })

  test('without an entry, the second factor stays as it is', async () => {
    const { uri } = await call('startTotp', { currentPassword: PASSWORD })
    await rejectEntries('totp.confirm')
    await expect(call('confirmTotp', { code: totpCode(uri) })).rejects.toThrow(FAILS)
    await acceptEntries()
    expect([await isOn(), await countSessions()]).toEqual([false, 1])
    session = (await call('confirmTotp', { code: totpCode(uri) })).sessionToken
    await rejectEntries('totp.remove')
    await expect(call('removeTotp', { currentPassword: PASSWORD })).rejects.toThrow(FAILS)
    await acceptEntries()
    expect([await isOn(), await countSessions()]).toEqual([true, 1])
  })

  test('a session is accepted from the transaction of its entry on', async () => {
    const { sessionToken } = await signIn()
    const own = eq(schema.sessions.token, hashToken(sessionToken))
    const [row] = await t.runtime.db
      .select({ id: schema.sessions.id, xid: sql<string>`xmin::text` })
      .from(schema.sessions)
      .where(own)
    const entries = await t.runtime.db
      .select({ xid: sql<string>`xmin::text`, action: schema.auditEntries.action })
      .from(schema.auditEntries)
      .where(eq(schema.auditEntries.sessionId, row!.id))
    expect(entries).toEqual([{ action: 'session.create', xid: row!.xid }])
    await t.runtime.db.update(schema.sessions).set({ isActive: false }).where(own)
    expect((await call('startTotp', { currentPassword: PASSWORD }, sessionToken)).__typename).toBe('UnauthenticatedError')
  })
})

test('a wrong code is recorded in the tenants of the user', async () => {
  await setUp()
  const { challenge } = await signIn()
  await verify(challenge, '000000')
  const [row] = await t.runtime.db
    .select()
    .from(schema.auditEntries)
    .where(eq(schema.auditEntries.action, 'totp.verify'))
    .orderBy(desc(schema.auditEntries.id))
  const member = await t.runtime.db.query.members.findFirst({ where: { userId } })
  expect(row).toMatchObject({ outcome: 'failed', tenantId: member!.tenantId, objectName: email, actorKind: 'anonymous' })
})

test('a password alone does not sign in a user with an authenticator app', async () => {
  expect((await call('startTotp', { currentPassword: 'wrong' })).__typename).toBe('InvalidInputError')
  const { uri } = await call('startTotp', { currentPassword: PASSWORD })
  expect(uri).toMatch(/^otpauth:\/\/totp\/Muster/)
  // It takes effect with the first code.
  expect((await signIn()).__typename).toBe('SignInPayload')
  expect(await call('confirmTotp', { code: '000000' })).toMatchObject({ __typename: 'InvalidInputError' })
  const confirmed = await call('confirmTotp', { code: totpCode(uri, Date.now() - 30_000) })
  expect(confirmed).toMatchObject({ __typename: 'ConfirmTotpPayload', viewer: { hasSecondFactor: true } })

  const first = await signIn()
  expect(first).toMatchObject({ __typename: 'SecondFactorRequiredError', challenge: expect.any(String) })
  const entry = await t.runtime.db.query.auditEntries.findFirst({ where: { objectName: email }, orderBy: { id: 'desc' } })
  expect(entry).toMatchObject({ action: 'session.challenge', outcome: 'succeeded', actorKind: 'anonymous', error: null })
  expect((await verify(first.challenge, '000000')).__typename).toBe('UnauthenticatedError')
  expect((await verify('forged', totpCode(uri))).__typename).toBe('UnauthenticatedError')
  const code = totpCode(uri)
  const signedIn = await verify(first.challenge, code)
  expect(signedIn.__typename).toBe('VerifySecondFactorPayload')
  expect(await t.ask({ headers: { authorization: `Bearer ${signedIn.sessionToken}` } }, '{ viewer { name } }')).toMatchObject({
    viewer: { name: 'Test' },
  })
  // A code works once.
  const count = await t.runtime.db.$count(schema.sessions, eq(schema.sessions.userId, userId))
  expect(await verify((await signIn()).challenge, code)).toMatchObject({ message: expect.stringContaining('already used') })
  expect(await t.runtime.db.$count(schema.sessions, eq(schema.sessions.userId, userId))).toBe(count)
})

test('a challenge accepts five codes and signs in once', async () => {
  const { uri } = await setUp()
  const { challenge } = await signIn()
  for (let i = 0; i < 5; i++) expect((await verify(challenge, `00000${i}`)).__typename).toBe('UnauthenticatedError')
  expect((await verify(challenge, totpCode(uri))).__typename).toBe('UnauthenticatedError')
  const next = await signIn()
  expect((await verify(next.challenge, totpCode(uri))).__typename).toBe('VerifySecondFactorPayload')
  expect((await verify(next.challenge, totpCode(uri, Date.now() + 30_000))).__typename).toBe('UnauthenticatedError')
})

test('wrong codes lock the second factor of the user over all challenges', async () => {
  const { uri } = await setUp()
  for (let i = 0; i < 10; i++) await verify((await signIn()).challenge, `00000${i}`)
  expect(await verify((await signIn()).challenge, totpCode(uri))).toMatchObject({
    message: expect.stringContaining('15 minutes'),
  })
})

test('a recovery code signs in once, and new codes replace the old', async () => {
  const { recoveryCodes } = await setUp()
  expect(recoveryCodes.length).toBe(10)
  expect((await verify((await signIn()).challenge, recoveryCodes[0]!)).__typename).toBe('VerifySecondFactorPayload')
  expect((await verify((await signIn()).challenge, recoveryCodes[0]!)).__typename).toBe('UnauthenticatedError')
  const replaced = await call('replaceRecoveryCodes', { currentPassword: PASSWORD })
  expect((await verify((await signIn()).challenge, recoveryCodes[1]!)).__typename).toBe('UnauthenticatedError')
  expect((await verify((await signIn()).challenge, replaced.recoveryCodes[1]!)).__typename).toBe('VerifySecondFactorPayload')
})

test('removing the app needs the password, and the password alone signs in again', async () => {
  const { recoveryCodes, uri } = await setUp()
  expect((await call('removeTotp', { currentPassword: 'wrong' })).__typename).toBe('InvalidInputError')
  expect((await call('startTotp', { currentPassword: PASSWORD })).__typename).toBe('ConflictError')
  expect((await call('removeTotp', { currentPassword: PASSWORD })).__typename).toBe('RemoveTotpPayload')
  expect((await signIn()).__typename).toBe('SignInPayload')
  const stored = JSON.stringify(await t.runtime.db.select().from(schema.twoFactors))
  for (const secret of [new URL(uri).searchParams.get('secret')!, ...recoveryCodes]) expect(stored).not.toContain(secret)
})

test('a change of the secret keeps authenticator apps and recovery codes', async () => {
  const { uri, recoveryCodes } = await setUp()
  const { challenge } = await signIn()
  await reencryptSecondFactors(t.runtime.db, AUTH_SECRET, 'another secret of the server')
  expect((await verify(challenge, totpCode(uri)).catch((error: Error) => error)) as object).toBeInstanceOf(Error)
  await reencryptSecondFactors(t.runtime.db, 'another secret of the server', AUTH_SECRET)
  expect((await verify((await signIn()).challenge, totpCode(uri))).__typename).toBe('VerifySecondFactorPayload')
  expect((await verify((await signIn()).challenge, recoveryCodes[3]!)).__typename).toBe('VerifySecondFactorPayload')
})
