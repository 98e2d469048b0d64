import { schema } from '@muster/core/registry'
import { and, desc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { globalId } from '../graphql/shared/ids.ts'
import { PEER } from '../http/request-facts.ts'
import { PUBLIC_URL, testApi } from '../testing/api.ts'
import { createAuthenticator } from '../testing/authenticator.ts'
import { type MutationResult, mutate } from '../testing/mutate.ts'
import { insertPasskey, insertSession } from '../testing/sessions.ts'
import { totpCode } from '../testing/totp.ts'
import { passkeysBlockedReason } from './passkeys.ts'

const { accounts, auditEntries, members, passkeys, sessions } = schema
const PASSWORD = 'correct horse battery'

let t: Awaited<ReturnType<typeof testApi>>
beforeAll(async () => {
  t = await testApi()
})
afterAll(() => t?.close())

let users = 0
let addresses = 0
let userId: string
let tenantId: string
let session: string
beforeEach(async () => {
  const { tenant } = await t.given.tenant()
  tenantId = tenant.id
  ;({ userId, session } = await createUser())
})

async function createUser() {
  const { id } = await t.auth.ensureUser(`passkey${++users}@muster.test`, 'Ada')
  await t.runtime.db.insert(members).values({ userId: id, tenantId, role: 'operator' })
  return { userId: id, session: (await insertSession(t.runtime.db, id)).token }
}

const SELECTIONS: Record<string, string> = {
  startPasskeyRegistration: 'challenge options',
  startPasskeySignIn: 'challenge options',
  signInWithPasskey: 'sessionToken viewer { name needsPassword signInMethods { kind removeBlockedReason } }',
  finishPasskeyRegistration: 'passkey { id name deviceType lastUsedAt }',
  renamePasskey: 'passkey { name }',
  removePasskey: 'removedId',
  disconnectIdentity: 'viewer { signInMethods { kind } }',
  startTotp: 'uri',
  confirmTotp: 'sessionToken',
  setPassword: 'viewer { name }',
}
function call(name: string, input?: object, token: string | null = session): Promise<MutationResult> {
  const headers = { [PEER]: `203.0.113.${++addresses % 250}`, ...(token && { authorization: `Bearer ${token}` }) }
  const isAnswer = input && 'response' in input && typeof input.response === 'object'
  return mutate(
    t,
    { headers },
    name,
    SELECTIONS[name]!,
    isAnswer ? { ...input, response: JSON.stringify(input.response) } : input,
  )
}
type Ceremony = { challenge: string; options: { challenge: string } }
const parsed = ({ challenge, options }: MutationResult): Ceremony => ({ challenge, options: JSON.parse(options) })
const startSignIn = async () => parsed(await call('startPasskeySignIn', undefined, null))
const startRegistration = async (input = {}, token = session) => parsed(await call('startPasskeyRegistration', input, token))

async function register(name = 'laptop', token = session) {
  const authenticator = createAuthenticator(PUBLIC_URL)
  const ceremony = await startRegistration({}, token)
  const { challenge } = ceremony
  const added = await call('finishPasskeyRegistration', { challenge, response: authenticator.register(ceremony), name }, token)
  expect(added.__typename).toBe('FinishPasskeyRegistrationPayload')
  return { authenticator, id: added.passkey.id as string }
}
type Authenticator = ReturnType<typeof createAuthenticator>
async function signIn(authenticator: Authenticator, circumstances?: Parameters<Authenticator['authenticate']>[1]) {
  const ceremony = await startSignIn()
  const { challenge } = ceremony
  return call('signInWithPasskey', { challenge, response: authenticator.authenticate(ceremony, circumstances) }, null)
}

const newestEntry = async () => {
  const [entry] = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.tenantId, tenantId))
    .orderBy(desc(auditEntries.id))
    .limit(1)
  return entry!
}

describe('sign-in', () => {
  test('a passkey signs in without password and code, and the audit log shows it', async () => {
    await call('setPassword', { password: PASSWORD })
    const { uri } = await call('startTotp', { currentPassword: PASSWORD })
    session = (await call('confirmTotp', { code: totpCode(uri) })).sessionToken
    const ceremony = await startRegistration({ currentPassword: PASSWORD })
    expect(ceremony.options).toMatchObject({
      rp: { id: 'muster.test' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    const authenticator = createAuthenticator(PUBLIC_URL)
    const response = authenticator.register(ceremony)
    const added = await call('finishPasskeyRegistration', { challenge: ceremony.challenge, response, name: ' laptop ' })
    expect(added.passkey).toMatchObject({ name: 'laptop', deviceType: 'SINGLE_DEVICE', lastUsedAt: null })
    expect(await newestEntry()).toMatchObject({ action: 'passkey.add', objectName: 'laptop', actorName: 'Ada' })

    const signedIn = await signIn(authenticator)
    expect(signedIn).toMatchObject({ __typename: 'SignInWithPasskeyPayload', viewer: { name: 'Ada' } })
    expect(await newestEntry()).toMatchObject({ action: 'session.create', outcome: 'succeeded', actorId: userId })
    const [row] = await t.runtime.db.select().from(passkeys).where(eq(passkeys.userId, userId))
    expect(row).toMatchObject({ counter: 1, lastUsedAt: expect.any(Date) })
  })

  test('rejects an answer for another origin, and records the failure in the tenant of the user', async () => {
    const { authenticator } = await register()
    expect((await signIn(authenticator, { origin: 'https://phishing.test' })).__typename).toBe('UnauthenticatedError')
    expect(await newestEntry()).toMatchObject({ action: 'session.create', outcome: 'failed', actorKind: 'anonymous' })
    const ceremony = await startRegistration()
    const response = createAuthenticator(PUBLIC_URL).register(ceremony, { origin: 'https://phishing.test' })
    const added = await call('finishPasskeyRegistration', { challenge: ceremony.challenge, response, name: 'x' })
    expect(added.__typename).toBe('InvalidInputError')
  })

  test('a challenge works once, for its own ceremony and session', async () => {
    const { authenticator } = await register()
    const ceremony = await startSignIn()
    const { challenge } = ceremony
    const answer = () => ({ challenge, response: authenticator.authenticate(ceremony) })
    expect((await call('signInWithPasskey', answer(), null)).__typename).toBe('SignInWithPasskeyPayload')
    expect((await call('signInWithPasskey', answer(), null)).__typename).toBe('UnauthenticatedError')
    const other = await startSignIn()
    // A signature of another challenge.
    const stale = { challenge: other.challenge, response: authenticator.authenticate(ceremony) }
    expect((await call('signInWithPasskey', stale, null)).__typename).toBe('UnauthenticatedError')
    expect((await call('signInWithPasskey', { ...answer(), challenge: 'forged' }, null)).__typename).toBe('UnauthenticatedError')
    const registration = await startRegistration()
    const confused = { challenge: registration.challenge, response: authenticator.authenticate(registration) }
    expect((await call('signInWithPasskey', confused, null)).__typename).toBe('UnauthenticatedError')
    const eve = await createUser()
    const own = await startRegistration()
    const response = createAuthenticator(PUBLIC_URL).register(own)
    const foreign = await call('finishPasskeyRegistration', { challenge: own.challenge, response, name: 'x' }, eve.session)
    expect(foreign.__typename).toBe('InvalidInputError')
  })

  test('a counter that goes back, a wrong key and a missing user verification do not sign in', async () => {
    const { authenticator } = await register()
    expect((await signIn(authenticator, { counter: 5 })).__typename).toBe('SignInWithPasskeyPayload')
    expect((await signIn(authenticator, { counter: 4 })).__typename).toBe('UnauthenticatedError')
    expect((await signIn(authenticator, { counter: 6, isUserVerified: false })).__typename).toBe('UnauthenticatedError')
    const ceremony = await startSignIn()
    const forged = { ...createAuthenticator(PUBLIC_URL).authenticate(ceremony), id: authenticator.id, rawId: authenticator.id }
    const { challenge } = ceremony
    expect((await call('signInWithPasskey', { challenge, response: forged }, null)).__typename).toBe('UnauthenticatedError')
    for (const response of [null, 'x', {}, { id: {} }, { id: authenticator.id, response: {} }])
      expect((await call('signInWithPasskey', { challenge, response }, null)).__typename).toBe('UnauthenticatedError')
    expect((await signIn(authenticator, { counter: 6 })).__typename).toBe('SignInWithPasskeyPayload')

    const registration = await startRegistration()
    const response = createAuthenticator(PUBLIC_URL).register(registration, { isUserVerified: false })
    const unverified = { challenge: registration.challenge, response, name: 'x' }
    expect((await call('finishPasskeyRegistration', unverified)).__typename).toBe('InvalidInputError')
  })

  test('a suspended member does not sign in, and a removed passkey neither', async () => {
    const { authenticator, id } = await register()
    const isMember = and(eq(members.userId, userId), eq(members.tenantId, tenantId))
    await t.runtime.db.update(members).set({ suspendedAt: new Date(), suspendedByName: 'x' }).where(isMember)
    expect(await signIn(authenticator)).toMatchObject({ message: expect.stringContaining('not an active member') })
    await t.runtime.db.update(members).set({ suspendedAt: null, suspendedByName: null }).where(isMember)
    await register('second')
    await call('removePasskey', { id })
    expect((await signIn(authenticator)).__typename).toBe('UnauthenticatedError')
  })

  test('counts attempts per address', async () => {
    const attempt = () =>
      mutate(t, { headers: { [PEER]: '198.51.100.9' } }, 'signInWithPasskey', '', { challenge: 'x', response: '{}' })
    const results = await Promise.all(Array.from({ length: 40 }, attempt))
    expect(results.filter(({ __typename }) => __typename === 'UnavailableError').length).toBe(10)
  })
})

describe('changes', () => {
  test('adding and removing need the password', async () => {
    await call('setPassword', { password: PASSWORD })
    expect((await call('startPasskeyRegistration', {})).__typename).toBe('InvalidInputError')
    const { id } = await insertPasskey(t.runtime.db, userId)
    expect((await call('removePasskey', { id: globalId('Passkey', id) })).__typename).toBe('InvalidInputError')
    expect(await call('removePasskey', { id: globalId('Passkey', id), currentPassword: PASSWORD })).toMatchObject({
      removedId: globalId('Passkey', id),
    })
  })

  test('other users can neither rename nor remove a passkey', async () => {
    const { id } = await register()
    const eve = await createUser()
    for (const [name, input] of [
      ['renamePasskey', { id, name: 'mine' }],
      ['removePasskey', { id }],
    ] as const)
      expect((await call(name, input, eve.session)).__typename).toBe('NotFoundError')
    expect((await call('renamePasskey', { id, name: 'phone' })).passkey.name).toBe('phone')
    expect(await newestEntry()).toMatchObject({ action: 'passkey.rename', before: { name: 'laptop' }, after: { name: 'phone' } })
  })

  test('the last way to sign in stays, also of concurrent removals', async () => {
    const [first, second] = [await register(), await register('phone')]
    const results = await Promise.all([first, second].map(({ id }) => call('removePasskey', { id })))
    expect(results.map(({ __typename }) => __typename).sort()).toEqual(['ConflictError', 'RemovePasskeyPayload'])
    // The installation has no provider, so its identity does not count.
    await t.runtime.db.insert(accounts).values({ userId, providerId: 'oidc', accountId: `https://sso.test ${userId}` })
    const [{ id } = { id: '' }] = await t.runtime.db.select().from(passkeys).where(eq(passkeys.userId, userId))
    expect((await call('removePasskey', { id: globalId('Passkey', id) })).__typename).toBe('ConflictError')
    expect((await call('disconnectIdentity', { kind: 'OIDC' })).viewer.signInMethods).toEqual([{ kind: 'PASSKEY' }])
    expect((await call('disconnectIdentity', { kind: 'OIDC' })).__typename).toBe('NotFoundError')

    await call('setPassword', { password: PASSWORD })
    expect((await call('disconnectIdentity', { kind: 'PASSWORD' })).__typename).toBe('InvalidInputError')
    const removed = await call('disconnectIdentity', { kind: 'PASSWORD', currentPassword: PASSWORD })
    expect(removed.viewer.signInMethods).toEqual([{ kind: 'PASSKEY' }])
    expect(await newestEntry()).toMatchObject({ action: 'user.disconnect_identity', details: { provider: 'credential' } })
  })

  test('an identity whose groups give a role stays connected', async () => {
    await call('setPassword', { password: PASSWORD })
    await t.runtime.db.insert(accounts).values({ userId, providerId: 'ldap', accountId: userId })
    await t.runtime.db.update(members).set({ provider: 'ldap' }).where(eq(members.userId, userId))
    await t.runtime.db.update(sessions).set({ provider: 'ldap' }).where(eq(sessions.userId, userId))
    const result = await call('disconnectIdentity', { kind: 'LDAP', currentPassword: PASSWORD })
    expect(result).toMatchObject({ __typename: 'ConflictError', message: expect.stringContaining('Your groups') })
  })

  test('a one-time link does not bypass a passkey', async () => {
    await register()
    const [{ email } = { email: '' }] = await t.runtime.db.select().from(schema.users).where(eq(schema.users.id, userId))
    const token = await t.auth.createSignInToken(email)
    const before = await t.runtime.db.$count(sessions, eq(sessions.userId, userId))
    const result = await mutate(t, null, 'signInWithLink', 'sessionToken', { token })
    expect(result).toMatchObject({ __typename: 'UnauthenticatedError', message: expect.stringContaining('passkey') })
    expect(await t.runtime.db.$count(sessions, eq(sessions.userId, userId))).toBe(before)
  })

  test('administrators see how a member signs in, others do not', async () => {
    await register()
    const query = `{ members(first: 100) { edges { node { user { id } hasSecondFactor signInMethods { kind } } } } }`
    type Row = { node: { user: { id: string }; signInMethods: { kind: string }[] | null; hasSecondFactor: boolean | null } }
    const read = async (role: 'admin' | 'operator') => {
      const caller = await createUser()
      await t.runtime.db.update(members).set({ role }).where(eq(members.userId, caller.userId))
      const headers = { authorization: `Bearer ${caller.session}` }
      const { members: list } = await t.ask<{ members: { edges: Row[] } }>({ headers }, query)
      return list.edges.find(({ node }) => node.user.id === globalId('User', userId))!.node
    }
    expect(await read('admin')).toMatchObject({ signInMethods: [{ kind: 'PASSKEY' }], hasSecondFactor: false })
    expect(await read('operator')).toMatchObject({ signInMethods: null, hasSecondFactor: null })
  })
})

test('passkeys need HTTPS or localhost, and a host name', () => {
  expect(['https://muster.test', 'http://localhost:3000'].map(passkeysBlockedReason)).toEqual([null, null])
  for (const url of ['http://muster.test', 'https://10.0.0.1', 'http://127.0.0.1:3000', 'https://[::1]'])
    expect(passkeysBlockedReason(url)).toMatch(/^Passkeys require /)
})
