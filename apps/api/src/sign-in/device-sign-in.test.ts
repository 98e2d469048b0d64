import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { desc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PEER } from '../http/request-facts.ts'
import { testApi } from '../testing/api.ts'
import { mutate } from '../testing/mutate.ts'
import { insertSession } from '../testing/sessions.ts'

const { apiTokens, auditEntries, deviceAuthorizations, members, signInAttempts, tenants } = schema

let t: Awaited<ReturnType<typeof testApi>>
beforeAll(async () => {
  t = await testApi()
})
afterAll(() => t?.close())

let own: TenantFixture
let session: string
beforeEach(async () => {
  await t.runtime.db.delete(signInAttempts)
  own = await t.given.tenant()
  session = (await insertSession(t.runtime.db, own.operator.actor.id!)).token
})

const MACHINE = { [PEER]: '203.0.113.7', 'user-agent': 'muster-cli/1' }
const person = (token = session) => ({ headers: { [PEER]: '198.51.100.1', authorization: `Bearer ${token}` } })

const start = (input: object = {}) =>
  mutate(t, { headers: MACHINE }, 'startDeviceSignIn', 'deviceCode userCode verificationUriComplete intervalSeconds', {
    tokenName: 'muster on login1',
    clientName: 'login1',
    ...input,
  })
const poll = (deviceCode: string) => mutate(t, { headers: MACHINE }, 'pollDeviceSignIn', 'status secret', { deviceCode })
/** Lets the next poll come in time. */
const letTimePass = () => t.runtime.db.update(deviceAuthorizations).set({ lastPolledAt: sql`now() - interval '1 minute'` })
const decide = (verb: 'approve' | 'deny', userCode: string, as = person()) =>
  mutate(t, as, `${verb}DeviceSignIn`, 'userCode', { userCode })
const find = (userCode: string, as = person()) =>
  mutate(
    t,
    as,
    'findDeviceSignIn',
    'deviceSignIn { clientName clientAddress isSameAddress tokenName role isInstallationAdmin tenant { name } tokenExpiresInSeconds }',
    { userCode },
  )

test('a program gets a token of the person who approves, once', async () => {
  const { deviceCode, userCode, verificationUriComplete } = await start({ expiresInSeconds: 3600 })
  expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  expect(verificationUriComplete).toBe(`https://muster.test/device#code=${userCode}`)
  const stored = JSON.stringify(await t.runtime.db.select().from(deviceAuthorizations))
  for (const code of [deviceCode, userCode, userCode.replace('-', '')]) expect(stored).not.toContain(code)

  expect(await poll(deviceCode)).toMatchObject({ status: 'PENDING', secret: null })
  expect(await poll(deviceCode)).toMatchObject({ status: 'SLOW_DOWN', secret: null })
  expect((await find(userCode.toLowerCase().replace('-', ' '))).deviceSignIn).toEqual({
    clientName: 'login1',
    clientAddress: '203.0.113.7',
    isSameAddress: false,
    tokenName: 'muster on login1',
    role: 'operator',
    isInstallationAdmin: false,
    tenant: { name: own.tenant.name },
    tokenExpiresInSeconds: 3600,
  })
  expect((await decide('approve', userCode)).__typename).toBe('ApproveDeviceSignInPayload')
  // A decision is final.
  expect((await decide('deny', userCode)).__typename).toBe('NotFoundError')
  await letTimePass()
  const approved = await poll(deviceCode)
  expect(approved).toMatchObject({ status: 'APPROVED', secret: expect.stringMatching(/^mst_/) })
  expect(await t.ask({ headers: { authorization: `Bearer ${approved.secret}` } }, '{ viewer { kind role } }')).toEqual({
    viewer: { kind: 'API_TOKEN', role: 'operator' },
  })
  expect(await poll(deviceCode)).toMatchObject({ status: 'EXPIRED', secret: null })
  const [token] = await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.name, 'muster on login1'))
  expect(token).toMatchObject({ ownerId: own.operator.actor.id, tenantId: own.tenant.id })
  const rows = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.tenantId, own.tenant.id))
    .orderBy(desc(auditEntries.id))
    .limit(4)
  expect(rows.find(({ action }) => action === 'device_sign_in.approve')).toMatchObject({ objectName: 'login1' })
  expect(rows.find(({ action }) => action === 'api_token.create')).toMatchObject({ channel: 'cli', address: '203.0.113.7' })
})

test('a denied, an expired and an unknown code give no token', async () => {
  const denied = await start()
  expect((await decide('deny', denied.userCode)).__typename).toBe('DenyDeviceSignInPayload')
  expect(await poll(denied.deviceCode)).toMatchObject({ status: 'DENIED', secret: null })
  const expired = await start()
  await t.runtime.db.update(deviceAuthorizations).set({ expiresAt: sql`now()` })
  expect((await decide('approve', expired.userCode)).__typename).toBe('NotFoundError')
  expect(await poll(expired.deviceCode)).toMatchObject({ status: 'EXPIRED', secret: null })
  expect(await poll('unknown')).toMatchObject({ status: 'EXPIRED', secret: null })
})

test('the token has at most the role of the person, also when it is collected, and the tenant must be one of theirs', async () => {
  const greedy = await start({ role: 'owner' })
  expect((await decide('approve', greedy.userCode)).__typename).toBe('ForbiddenError')
  const admin = await start({ isInstallationAdmin: true })
  expect((await decide('approve', admin.userCode)).__typename).toBe('ForbiddenError')
  const elsewhere = await start({ tenant: (await t.given.tenant()).tenant.name })
  expect((await find(elsewhere.userCode)).__typename).toBe('ForbiddenError')
  const { token } = await insertSession(t.runtime.db, own.owner.actor.id!)
  const named = await start({ tenant: own.tenant.name })
  // An owner's token is an admin's.
  expect((await find(named.userCode, person(token))).deviceSignIn).toMatchObject({ role: 'admin' })

  const late = await start()
  await decide('approve', late.userCode)
  await t.runtime.db
    .update(members)
    .set({ suspendedAt: new Date(), suspendedByName: 'x' })
    .where(eq(members.userId, own.operator.actor.id!))
  expect((await poll(late.deviceCode)).__typename).toBe('ForbiddenError')
})

test('guessing a code is limited, tokens cannot approve, and approving needs a recent proof of identity', async () => {
  const { userCode } = await start()
  expect((await decide('approve', userCode, own.operator as never)).__typename).toBe('InvalidInputError')
  for (let i = 0; i < 10; i++) expect((await find('BBBB-BBBB')).__typename).toBe('NotFoundError')
  expect((await find(userCode)).__typename).toBe('UnavailableError')
  await t.runtime.db.delete(signInAttempts)

  await t.runtime.db.update(tenants).set({ stepUpMinutes: 5 }).where(eq(tenants.id, own.tenant.id))
  const hourAgo = new Date(Date.now() - 3_600_000)
  const { token } = await insertSession(t.runtime.db, own.operator.actor.id!, { authenticatedAt: hourAgo })
  expect((await decide('approve', userCode, person(token))).__typename).toBe('StepUpRequiredError')
})
