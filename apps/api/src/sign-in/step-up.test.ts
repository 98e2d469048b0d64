import { randomUUID } from 'node:crypto'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { and, desc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { globalId } from '../graphql/shared/ids.ts'
import { PEER } from '../http/request-facts.ts'
import { PUBLIC_URL, testApi } from '../testing/api.ts'
import { createAuthenticator } from '../testing/authenticator.ts'
import { PUBLIC } from '../testing/isolation/exceptions.ts'
import { operationsOf } from '../testing/isolation/operations.ts'
import { createValues } from '../testing/isolation/values.ts'
import { mutate } from '../testing/mutate.ts'
import { createObjects } from '../testing/objects.ts'
import { insertSession } from '../testing/sessions.ts'
import { totpCode } from '../testing/totp.ts'

const { auditEntries, members, sessions, signInAttempts, tenants } = schema
const PASSWORD = 'correct horse battery'
const HOUR_AGO = new Date(Date.now() - 3_600_000)

let t: Awaited<ReturnType<typeof testApi>>
/** Objects of another tenant. */
let ids: Record<string, string[]>
let own: TenantFixture
beforeAll(async () => {
  t = await testApi()
  const objects = Object.entries((await createObjects(t)).ids)
  ids = Object.fromEntries(objects.map(([type, id]) => [type, [id]]))
  ids.Worker = [globalId('Worker', randomUUID())]
  own = await t.given.tenant()
  await t.runtime.db.update(tenants).set({ stepUpMinutes: 15 }).where(eq(tenants.id, own.tenant.id))
})
afterAll(() => t?.close())

let addresses = 0
const headersOf = (token: string) => ({
  headers: { [PEER]: `203.0.113.${++addresses % 250}`, authorization: `Bearer ${token}` },
})

/** A session of the owner, whose sign-in was an hour ago. */
const staleSession = (userId = own.installationAdmin.actor.id!) =>
  insertSession(t.runtime.db, userId, { authenticatedAt: HOUR_AGO })

/** Mutations that a session with an old proof of identity cannot call. */
const CONCERNED = [
  'approveHostKeys',
  'cancelCredentialRotation',
  'completeCredentialRotation',
  'createApiToken',
  'createCredential',
  'createSecretStore',
  'deleteCredential',
  'deleteSecretStore',
  'disconnectIdentity',
  'removePasskey',
  'removeTotp',
  'replaceRecoveryCodes',
  'resumeCredentialRotation',
  'revokeApiToken',
  'rotateCredential',
  'setPassword',
  'setStepUp',
  'startPasskeyRegistration',
  'startTotp',
  'updateCredential',
  'updateSecretStore',
]

test('lists the mutations that need a recent proof of identity', async () => {
  // Of tokens, sessions and tenants, some mutations would end the session of this test.
  const skipped = ['signOut', 'suspendTenant', 'deleteTenant', 'switchTenant']
  const refused: string[] = []
  const { variablesFor } = createValues()
  for (const operation of operationsOf('Mutation')) {
    const name = operation.name.split('.')[1]!
    if (PUBLIC.includes(name) || skipped.includes(name)) continue
    const { token } = await staleSession()
    const data = await t.ask<Record<string, { __typename: string }>>(
      headersOf(token),
      operation.document,
      variablesFor(operation, { marker: 'theirs', ids }),
    )
    if (data[name]?.__typename === 'StepUpRequiredError') refused.push(name)
  }
  expect(refused).toEqual(CONCERNED)
})

describe('a session', () => {
  const create = (token: string) =>
    mutate(t, headersOf(token), 'createApiToken', 'apiToken { name }', { name: 'x', role: 'viewer' })
  const confirm = (token: string, input: object) => mutate(t, headersOf(token), 'confirmIdentity', 'viewer { name }', input)

  async function createUser() {
    const email = `stale${++addresses}@muster.test`
    const { id } = await t.auth.ensureUser(email, 'Ada')
    await t.runtime.db.insert(members).values({ userId: id, tenantId: own.tenant.id, role: 'operator' })
    const fresh = await insertSession(t.runtime.db, id)
    await mutate(t, headersOf(fresh.token), 'setPassword', '', { password: PASSWORD })
    return { id, email, fresh: fresh.token, stale: await staleSession(id) }
  }

  test('is refused with its own code, confirms with the password, and can then continue', async () => {
    const { fresh, stale, id } = await createUser()
    expect((await create(fresh)).__typename).toBe('CreateApiTokenPayload')
    expect(await create(stale.token)).toMatchObject({ __typename: 'StepUpRequiredError', code: 'STEP_UP_REQUIRED' })
    expect(await confirm(stale.token, { password: 'wrong' })).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: 'input.password' }],
    })
    expect((await create(stale.token)).__typename).toBe('StepUpRequiredError')
    for (const input of [{}, { password: PASSWORD, code: '123456' }])
      expect((await confirm(stale.token, input)).__typename).toBe('InvalidInputError')
    expect((await confirm(stale.token, { password: PASSWORD })).__typename).toBe('ConfirmIdentityPayload')
    expect((await create(stale.token)).__typename).toBe('CreateApiTokenPayload')
    const rows = await t.runtime.db
      .select({ action: auditEntries.action, outcome: auditEntries.outcome })
      .from(auditEntries)
      .where(and(eq(auditEntries.actorId, id), eq(auditEntries.sessionId, stale.id)))
      .orderBy(desc(auditEntries.id))
    expect(rows).toContainEqual({ action: 'session.confirm', outcome: 'succeeded' })
    expect(rows).toContainEqual({ action: 'session.confirm', outcome: 'failed' })
    expect(rows).toContainEqual({ action: 'api_token.create', outcome: 'denied' })
  })

  test('confirms with a code once, and with a passkey of its own user', async () => {
    const { fresh, stale, id } = await createUser()
    expect(await confirm(stale.token, { code: '123456' })).toMatchObject({ __typename: 'ConflictError' })
    const { uri } = await mutate(t, headersOf(fresh), 'startTotp', 'uri', { currentPassword: PASSWORD })
    await mutate(t, headersOf(fresh), 'confirmTotp', '', { code: totpCode(uri, Date.now() - 30_000) })
    const code = totpCode(uri)
    expect((await confirm(stale.token, { code: '000000' })).__typename).toBe('InvalidInputError')
    expect((await confirm(stale.token, { code })).__typename).toBe('ConfirmIdentityPayload')
    expect((await confirm((await staleSession(id)).token, { code })).__typename).toBe('InvalidInputError')

    const [ada, eve] = [await withPasskey(), await withPasskey()]
    const session = await staleSession(ada.id)
    const confirmWith = async ({ authenticator }: typeof ada) => {
      const { challenge, options } = await mutate(t, headersOf(session.token), 'startPasskeyConfirmation', 'challenge options')
      const response = JSON.stringify(authenticator.authenticate({ challenge, options: JSON.parse(options) }))
      return confirm(session.token, { passkey: { challenge, response } })
    }
    const before = await t.runtime.db.$count(sessions)
    expect((await confirmWith(eve)).__typename).toBe('InvalidInputError')
    expect((await create(session.token)).__typename).toBe('StepUpRequiredError')
    expect((await confirmWith(ada)).__typename).toBe('ConfirmIdentityPayload')
    expect((await create(session.token)).__typename).toBe('CreateApiTokenPayload')
    // No session is left over.
    expect(await t.runtime.db.$count(sessions)).toBe(before)
  })

  async function withPasskey() {
    const user = await createUser()
    const headers = headersOf(user.fresh)
    const input = { currentPassword: PASSWORD }
    const started = await mutate(t, headers, 'startPasskeyRegistration', 'challenge options', input)
    const authenticator = createAuthenticator(PUBLIC_URL)
    const ceremony = { challenge: started.challenge as string, options: JSON.parse(started.options) }
    const response = JSON.stringify(authenticator.register(ceremony))
    await mutate(t, headers, 'finishPasskeyRegistration', '', { challenge: ceremony.challenge, response, name: 'x' })
    return { ...user, authenticator }
  }

  test('has as many attempts as a sign-in, with the same counter', async () => {
    const { stale, email } = await createUser()
    const peer = { [PEER]: '198.51.100.77' }
    const as = { headers: { ...peer, authorization: `Bearer ${stale.token}` } }
    const attempt = (password: string) => mutate(t, as, 'confirmIdentity', 'viewer { name }', { password })
    for (let i = 0; i < 10; i++) await attempt('wrong')
    expect((await attempt(PASSWORD)).__typename).toBe('UnavailableError')
    const signIn = await mutate(t, { headers: peer }, 'signIn', 'sessionToken', {
      email,
      password: PASSWORD,
    })
    expect(signIn.__typename).toBe('UnavailableError')
    await t.runtime.db.delete(signInAttempts)
  })
})

test('tokens are not asked, nor sessions of a tenant without the setting', async () => {
  const input = { name: 'y', role: 'viewer' }
  expect((await mutate(t, own.owner, 'createApiToken', '', input)).__typename).toBe('CreateApiTokenPayload')
  const other = await t.given.tenant()
  const { token } = await staleSession(other.owner.actor.id!)
  expect((await mutate(t, headersOf(token), 'createApiToken', '', input)).__typename).toBe('CreateApiTokenPayload')
})
