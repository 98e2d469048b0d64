import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { activateSession, oidcSettings } from '@muster/core/access'
import { loadConfig } from '@muster/core/config'
import type { LocalTarget } from '@muster/core/outbound'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { globalId } from '../graphql/shared/ids.ts'
import { PEER } from '../http/request-facts.ts'
import { PUBLIC_URL, testApi } from '../testing/api.ts'
import { mutate } from '../testing/mutate.ts'
import { startOidcProvider } from '../testing/oidc-provider.ts'
import { totpCode } from '../testing/totp.ts'
import { createOidc } from './oidc.ts'

const { auditEntries, members, sessions, tenants, twoFactors, users, verifications } = schema
const SECRET = 'a client secret that only the provider knows'

let provider: Awaited<ReturnType<typeof startOidcProvider>>
let folder: string
let t: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  provider = await startOidcProvider({
    clientId: 'muster',
    clientSecret: SECRET,
    redirectUri: `${PUBLIC_URL}/sign-in/oidc`,
    signedOutUri: `${PUBLIC_URL}/sign-in`,
  })
  folder = mkdtempSync(join(tmpdir(), 'muster-oidc-'))
  writeFileSync(join(folder, 'secret'), `${SECRET}\n`)
  const oidc = configured({})
  t = await testApi({ oidc })
  tenant = await t.given.tenant()
  await t.runtime.db.update(schema.tenants).set({ name: 'Ours' }).where(eq(schema.tenants.id, tenant.tenant.id))
})
afterAll(async () => {
  await t?.close()
  await provider?.close()
  rmSync(folder, { recursive: true, force: true })
})

const LOOPBACK: LocalTarget[] = [{ address: '127.0.0.1', prefix: 32, port: null }]
const configured = (env: Record<string, string>, localTargets = LOOPBACK) =>
  createOidc(
    loadConfig(
      {
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: 'muster',
        OIDC_CLIENT_SECRET_FILE: join(folder, 'secret'),
        OIDC_ROLES: JSON.stringify({ ops: 'operator', admins: { Ours: 'admin' } }),
        ...env,
      },
      oidcSettings,
    ),
    { publicUrl: PUBLIC_URL, defaultTenant: 'Ours', localTargets },
  )!

// Each test has its own client address, because attempts are limited per address.
let address = 0
let from: Record<string, string>
beforeEach(() => {
  from = { [PEER]: `192.0.2.${++address}` }
})

type Result = {
  __typename: string
  message?: string
  challenge?: string
  url?: string
  sessionToken?: string
  viewer?: { name: string; role: string; user: { id: string; email: string } }
}
async function start(headers: Record<string, string> = {}, input: object = {}) {
  const { data, headers: answer } = await t.send<{ it: Result }>(
    { headers: { ...from, ...headers } },
    'mutation ($input: StartOidcSignInInput!) { it: startOidcSignIn(input: $input) { __typename ... on StartOidcSignInPayload { url } ... on Error { message } } }',
    { input },
  )
  const cookie = answer.getSetCookie().find((each) => each.startsWith('__Host-muster.oidc='))
  return { ...data.it, setCookie: cookie ?? '', cookie: cookie?.split(';')[0] ?? '' }
}
async function finish(cookie: string, response: string, headers: Record<string, string> = {}) {
  const answer = await t.send<{ it: Result }>(
    { headers: { ...from, ...(cookie ? { cookie } : {}), ...headers } },
    `mutation ($response: String!) { it: finishOidcSignIn(input: { response: $response }) { __typename
      ... on FinishOidcSignInPayload { sessionToken viewer { name role user { id email } } }
      ... on SecondFactorRequiredError { challenge } ... on Error { message } } }`,
    { response },
  )
  return { ...answer.data.it, cookies: answer.headers.getSetCookie() }
}
async function signIn(login: string) {
  const { url, cookie } = await start()
  return finish(cookie, await provider.signIn(url!, login))
}
const account = (more: object = {}) => ({ name: 'Ada', email: 'ada@idp.test', email_verified: true, groups: ['ops'], ...more })

test('signs in with PKCE, state and nonce, creates the member, and follows its groups', async () => {
  await provider.setAccounts({ ada: account({ groups: ['ops', 'admins', 'others'] }) })
  const started = await start()
  expect(started.setCookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/)
  const parameters = new URL(started.url!).searchParams
  expect(parameters.get('code_challenge_method')).toBe('S256')
  expect(parameters.get('state')).toMatch(/^\S{40,}$/)
  expect(parameters.get('nonce')).toMatch(/^\S{40,}$/)
  const signedIn = await finish(started.cookie, await provider.signIn(started.url!, 'ada'))
  expect(signedIn.viewer).toMatchObject({ name: 'Ada', role: 'admin', user: { email: 'ada@idp.test' } })
  expect(signedIn.cookies.find((each) => each.startsWith('__Host-muster.session_token='))).toMatch(/HttpOnly/)

  await provider.setAccounts({ ada: account() })
  expect((await signIn('ada')).viewer).toMatchObject({ role: 'operator', user: signedIn.viewer!.user })
  await provider.setAccounts({ ada: account({ groups: [] }) })
  expect(await signIn('ada')).toMatchObject({
    __typename: 'ForbiddenError',
    message: expect.stringContaining('none of its groups'),
  })
  const denied = and(eq(auditEntries.action, 'session.create'), eq(auditEntries.outcome, 'denied'))
  expect(await t.runtime.db.select().from(auditEntries).where(denied)).toMatchObject([
    { tenantId: tenant.tenant.id, actorKind: 'anonymous', objectName: 'ada@idp.test' },
  ])
  // The earlier session no longer has access.
  const bearer = { headers: { ...from, authorization: `Bearer ${signedIn.sessionToken}` } }
  expect(await t.ask(bearer, '{ viewer { name } }')).toEqual({ viewer: null })
  const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.action, 'session.create'))
  expect(entries.map(({ outcome }) => outcome)).toEqual(expect.arrayContaining(['succeeded', 'denied']))
})

test('a response works once, in the browser that started the sign-in, with its state and nonce', async () => {
  await provider.setAccounts({ ada: account() })
  const first = await start()
  const response = await provider.signIn(first.url!, 'ada')
  const rejected = { __typename: 'UnauthenticatedError' }
  expect(await finish('', response)).toMatchObject(rejected)
  const second = await start()
  expect(await finish(second.cookie, response)).toMatchObject(rejected)
  expect(await finish(first.cookie, response)).toMatchObject({ __typename: 'FinishOidcSignInPayload' })
  expect(await finish(first.cookie, response)).toMatchObject(rejected)

  const changeFlow = async (change: object) => {
    const { url, cookie } = await start()
    const answer = await provider.signIn(url!, 'ada')
    const [flow] = await t.runtime.db.select().from(verifications)
    const value = JSON.stringify({ ...JSON.parse(flow!.value), ...change })
    await t.runtime.db.update(verifications).set({ value })
    return finish(cookie, answer)
  }
  for (const change of [{ nonce: 'another' }, { state: 'another' }, { codeVerifier: 'x'.repeat(43) }])
    expect(await changeFlow(change), JSON.stringify(change)).toMatchObject(rejected)
  expect((await changeFlow({})).__typename).toBe('FinishOidcSignInPayload')
})

test('reports that the user canceled, and quotes no text of the provider', async () => {
  const { url, cookie } = await start()
  const state = new URL(url!).searchParams.get('state')
  const answer = `error=access_denied&error_description=%3Cscript%3E&state=${state}&iss=${encodeURIComponent(provider.issuer)}`
  expect((await finish(cookie, answer)).message).toMatch(/failed \(access_denied\)/)
})

test('does not take over an account with the address of an unverified email', async () => {
  await provider.setAccounts({ thief: account({ email: tenant.owner.actor.name, email_verified: false }) })
  const [owner] = await t.runtime.db.select().from(users).where(eq(users.id, tenant.owner.actor.id!))
  await provider.setAccounts({ thief: account({ email: owner!.email, email_verified: false }) })
  expect(await signIn('thief')).toMatchObject({ __typename: 'ConflictError', message: expect.stringContaining('not connected') })
})

test('a signed-in user connects an identity and keeps the role that a person gave', async () => {
  await provider.setAccounts({ boss: account({ email: 'boss@elsewhere.test', email_verified: false }) })
  const { email } = (await t.runtime.db.query.users.findFirst({ where: { id: tenant.viewer.actor.id! } }))!
  const token = await t.auth.createSignInToken(email)
  const link = await t.auth.signInWithLink({ headers: new Headers(from), requestId: 'x', responseHeaders: new Headers() }, token)
  await activateSession(t.runtime.db, link.sessionToken)
  const bearer = { authorization: `Bearer ${link.sessionToken}` }
  expect(await start({}, { connect: true })).toMatchObject({ __typename: 'InvalidInputError' })
  const { url, cookie } = await start(bearer, { connect: true })
  const response = await provider.signIn(url!, 'boss')
  // Not in a browser without the session.
  const lost = await start(bearer, { connect: true })
  expect(await finish(lost.cookie, await provider.signIn(lost.url!, 'boss'))).toMatchObject({
    __typename: 'UnauthenticatedError',
  })
  expect((await finish(cookie, response, bearer)).sessionToken).toBe(link.sessionToken)
  expect((await signIn('boss')).viewer).toMatchObject({ role: 'viewer', user: { email } })
  expect(await t.runtime.db.$count(members, eq(members.userId, tenant.viewer.actor.id!))).toBe(1)
})

const bearerOf = (token: string) => ({ headers: { ...from, authorization: `Bearer ${token}` } })
const viewerOf = async (token: string) =>
  (
    await t.ask<{ viewer: { role: string; tenant: { name: string }; tenants: { name: string }[] } | null }>(
      bearerOf(token),
      '{ viewer { role tenant { name } tenants { name } } }',
    )
  ).viewer
const LOCAL_PASSWORD = 'correct horse battery'

test('a role from groups is active only in sessions that began at the provider', async () => {
  const email = 'grace@idp.test'
  await provider.setAccounts({ grace: account({ email, name: 'Grace' }) })
  const { sessionToken } = await signIn('grace')
  const asGrace = bearerOf(sessionToken!)
  await mutate(t, asGrace, 'setPassword', '', { password: LOCAL_PASSWORD })
  const withPassword = () =>
    mutate(t, { headers: from }, 'signIn', 'sessionToken viewer { role tenant { name } tenants { name } }', {
      email,
      password: LOCAL_PASSWORD,
    })
  const refused = await withPassword()
  expect(refused).toMatchObject({ __typename: 'UnauthenticatedError', message: expect.stringContaining('Sign in with') })
  const userId = (await t.runtime.db.query.users.findFirst({ where: { email } }))!.id
  expect(await t.runtime.db.$count(sessions, eq(sessions.userId, userId))).toBe(1)

  // A membership that a person gave is active in all sessions.
  const other = await t.given.tenant()
  const { name } = other.tenant
  await t.runtime.db.insert(members).values({ tenantId: other.tenant.id, userId, role: 'viewer' })
  const local = await withPassword()
  expect(local.viewer).toEqual({ role: 'viewer', tenant: { name }, tenants: [{ name }] })
  const tenantId = globalId('Tenant', tenant.tenant.id)
  const asLocal = bearerOf(local.sessionToken)
  expect((await mutate(t, asLocal, 'switchTenant', '', { tenantId })).__typename).toBe('ForbiddenError')
  const named = { headers: { ...asLocal.headers, 'x-muster-tenant': 'Ours' } }
  expect((await t.send(named, '{ viewer { name } }')).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  expect(await viewerOf(sessionToken!)).toMatchObject({ role: 'operator', tenants: [{ name: 'Ours' }, { name }] })
  // An owner does not depend on the provider.
  await t.runtime.db.update(members).set({ role: 'owner' }).where(eq(members.provider, 'oidc'))
  expect((await withPassword()).viewer).toMatchObject({ role: 'owner', tenant: { name: 'Ours' } })
  await t.runtime.db.update(members).set({ role: 'operator' }).where(eq(members.provider, 'oidc'))
})

test('the session keeps its provider through the second factor', async () => {
  await provider.setAccounts({ hedy: account({ email: 'hedy@idp.test', name: 'Hedy' }) })
  const { sessionToken } = await signIn('hedy')
  const { uri } = await mutate(t, bearerOf(sessionToken!), 'startTotp', 'uri', {})
  // Turning it on replaces the session.
  const confirmed = await mutate(t, bearerOf(sessionToken!), 'confirmTotp', 'sessionToken', {
    code: totpCode(uri, Date.now() - 30_000),
  })
  expect(await viewerOf(confirmed.sessionToken)).toMatchObject({ role: 'operator' })
  const { challenge } = await signIn('hedy')
  const input = { challenge, code: totpCode(uri) }
  const verified = await mutate(t, { headers: from }, 'verifySecondFactor', 'sessionToken viewer { role }', input)
  expect(verified.viewer).toEqual({ role: 'operator' })
})

test('a user without a password adds a way to sign in only shortly after a proof of identity, at the provider too', async () => {
  await provider.setAccounts({
    joan: account({ email: 'joan@idp.test', name: 'Joan' }),
    mallory: account({ email: 'mallory@idp.test' }),
  })
  const { sessionToken } = await signIn('joan')
  const asJoan = bearerOf(sessionToken!)
  const age = async () => {
    await t.runtime.db.update(sessions).set({ authenticatedAt: new Date(Date.now() - 11 * 60_000) })
    t.auth.clearCallerCache()
  }
  await age()
  for (const [name, input] of [
    ['setPassword', { password: LOCAL_PASSWORD }],
    ['startTotp', {}],
    ['startPasskeyRegistration', {}],
    ['startOidcSignIn', { connect: true }],
  ] as const)
    expect([name, (await mutate(t, asJoan, name, '', input)).__typename]).toEqual([name, 'StepUpRequiredError'])

  const confirmAs = async (login: string) => {
    const { url, cookie } = await start(asJoan.headers, { confirm: true })
    expect(new URL(url!).searchParams.get('prompt')).toBe('login')
    return finish(cookie, await provider.signIn(url!, login), asJoan.headers)
  }
  // Somebody else's identity proves nothing.
  await signIn('mallory')
  expect(await confirmAs('mallory')).toMatchObject({ __typename: 'ConflictError' })
  expect((await mutate(t, asJoan, 'setPassword', '', { password: LOCAL_PASSWORD })).__typename).toBe('StepUpRequiredError')
  expect((await confirmAs('joan')).sessionToken).toBe(sessionToken)
  expect((await mutate(t, asJoan, 'setPassword', '', { password: LOCAL_PASSWORD })).__typename).toBe('SetPasswordPayload')

  // Tenants that ask for it get the same proof.
  await t.runtime.db.update(tenants).set({ stepUpMinutes: 5 }).where(eq(tenants.id, tenant.tenant.id))
  await age()
  const create = async () => (await mutate(t, asJoan, 'createApiToken', '', { name: 'x', role: 'viewer' })).__typename
  expect(await create()).toBe('StepUpRequiredError')
  await confirmAs('joan')
  expect(await create()).toBe('CreateApiTokenPayload')
  await t.runtime.db.update(tenants).set({ stepUpMinutes: null }).where(eq(tenants.id, tenant.tenant.id))
})

test('a terminal gets a token of the user who approves it in a session at the provider', async () => {
  await provider.setAccounts({ mary: account({ email: 'mary@idp.test', name: 'Mary' }) })
  const wanted = { tokenName: 'muster on login1', clientName: 'login1', tenant: 'Ours' }
  const started = await mutate(t, { headers: from }, 'startDeviceSignIn', 'deviceCode userCode', wanted)
  const { sessionToken } = await signIn('mary')
  const { userCode } = started
  const approved = await mutate(t, bearerOf(sessionToken!), 'approveDeviceSignIn', 'userCode', { userCode })
  expect(approved.__typename).toBe('ApproveDeviceSignInPayload')
  const poll = { deviceCode: started.deviceCode }
  const { secret } = await mutate(t, { headers: from }, 'pollDeviceSignIn', 'status secret', poll)
  expect(await viewerOf(secret)).toMatchObject({ role: 'operator', tenant: { name: 'Ours' } })
})

test('asks a user with an authenticator app for its code', async () => {
  await provider.setAccounts({ eve: account({ email: 'eve@idp.test' }) })
  await signIn('eve')
  const [user] = await t.runtime.db
    .update(users)
    .set({ twoFactorEnabled: true })
    .where(eq(users.email, 'eve@idp.test'))
    .returning()
  await t.runtime.db.insert(twoFactors).values({ userId: user!.id, secret: 'x', backupCodes: 'x', verified: true })
  const answer = await signIn('eve')
  expect(answer).toMatchObject({ __typename: 'SecondFactorRequiredError', challenge: expect.any(String) })
  expect(answer.cookies.filter((each) => /session_token=[^;]/.test(each))).toEqual([])
})

test('signing out continues at the provider, when the browser signed in there', async () => {
  await provider.setAccounts({ ada: account() })
  const { cookies } = await signIn('ada')
  const SIGN_OUT = 'mutation { signOut { ... on SignOutPayload { wasSignedIn continueUrl } } }'
  const cookie = cookies.map((each) => each.split(';')[0]).join('; ')
  const { signOut } = await t.ask<{ signOut: { continueUrl: string } }>({ headers: { ...from, cookie } }, SIGN_OUT)
  const url = new URL(signOut.continueUrl)
  expect(url.origin).toBe(provider.issuer)
  expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${PUBLIC_URL}/sign-in`)
  const session = cookies.find((each) => each.includes('session_token'))!.split(';')[0]!
  expect(await t.ask({ headers: { ...from, cookie: session } }, SIGN_OUT)).toMatchObject({ signOut: { continueUrl: null } })
})

test('limits attempts per address', async () => {
  const answers = []
  for (let i = 0; i < 31; i++) answers.push((await finish('', 'code=x')).__typename)
  expect(answers.at(0)).toBe('UnauthenticatedError')
  expect(answers.at(-1)).toBe('UnavailableError')
})

const METHODS = '{ it: signInMethods { kind name details { address redirectUri groupRoles { group tenant role } } } }'
const TEST =
  'mutation { it: checkSignInMethod(input: { kind: OIDC }) { __typename ... on CheckSignInMethodPayload { findings { severity message } } } }'
test('lists the methods to everybody, with their settings to those who may test them', async () => {
  const oidc = { kind: 'OIDC', name: new URL(provider.issuer).host }
  const own = ['PASSWORD', 'PASSKEY'].map((kind) => ({ kind, name: null, details: null }))
  expect(await t.ask(null, METHODS)).toEqual({ it: [...own, { ...oidc, details: null }] })
  expect(await t.ask(tenant.viewer, METHODS)).toEqual({ it: [...own, { ...oidc, details: null }] })
  expect(await t.ask(tenant.installationAdmin, METHODS)).toMatchObject({
    it: [
      ...own,
      {
        details: {
          redirectUri: `${PUBLIC_URL}/sign-in/oidc`,
          groupRoles: [{ group: 'ops', tenant: null, role: 'operator' }, {}],
        },
      },
    ],
  })
  expect(await t.ask(tenant.owner, TEST)).toEqual({ it: { __typename: 'ForbiddenError' } })
  expect(await t.ask(tenant.installationAdmin, TEST)).toMatchObject({ it: { findings: [{ severity: 'OK' }] } })
})

test('reports a provider that does not work, with the next step', async () => {
  const check = async (env: Record<string, string>) => (await configured(env).check())[0]!
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  expect(await check({ OIDC_ISSUER: `http://127.0.0.1:${port}` })).toMatchObject({
    severity: 'ERROR',
    message: expect.stringContaining('ECONNREFUSED'),
    nextStep: expect.stringContaining('OIDC_ISSUER'),
  })
  const refused = (await configured({}, []).check())[0]!
  expect(refused).toMatchObject({ severity: 'ERROR', message: expect.stringContaining('LOCAL_TARGETS') })
  expect(await check({ OIDC_ISSUER: `${provider.issuer}/other` })).toMatchObject({ severity: 'ERROR' })
  expect(await check({ OIDC_ROLES: '{}' })).toMatchObject({
    severity: 'WARNING',
    nextStep: expect.stringContaining('OIDC_ROLES'),
  })
  expect(await check({ OIDC_SCOPES: 'openid teams' })).toMatchObject({ severity: 'WARNING' })
  writeFileSync(join(folder, 'wrong'), 'wrong')
  const oidc = configured({ OIDC_CLIENT_SECRET_FILE: join(folder, 'wrong') })
  await provider.setAccounts({ ada: account() })
  const { url, flow } = await oidc.start()
  await expect(oidc.finish(await provider.signIn(url, 'ada'), flow)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('OIDC_CLIENT_SECRET_FILE'),
  })
  expect(() => configured({ OIDC_CLIENT_SECRET_FILE: join(folder, 'missing') })).toThrow('ENOENT')
  expect(() => configured({ OIDC_CLIENT_ID: '' })).toThrow('OIDC_CLIENT_ID')
  expect(() => configured({ OIDC_ISSUER: 'http://idp.example.com' })).toThrow('https')
})
