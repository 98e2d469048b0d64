import { hashToken } from '@muster/core/access'
import { connectDb } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { firstStart } from './first-start.ts'
import { globalId } from './graphql/shared/ids.ts'
import { PEER } from './http/request-facts.ts'
import { PUBLIC_URL, testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let email: string
let signInLink: string
beforeAll(async () => {
  t = await testApi()
  const first = await firstStart(t, { tenantName: 'First', email: 'Owner@muster.test', publicUrl: PUBLIC_URL })
  expect(first.created).toBe(true)
  email = first.email
  signInLink = first.signInLink!
})
afterAll(() => t?.close())

// Each test has its own client address, because sign-in attempts are limited per address.
let address = 0
let from: Record<string, string>
beforeEach(() => {
  from = { [PEER]: `192.0.2.${++address}` }
})

const SESSION = 'sessionToken viewer { name role user { email } tenant { name } hasPassword kind } }'
type SignedIn = { __typename: string; sessionToken: string; message: string; viewer: Record<string, unknown> }
const withLink = async (token: string) =>
  t.send<{ signInWithLink: SignedIn }>(
    { headers: from },
    `mutation ($token: String!) { signInWithLink(input: { token: $token }) { __typename ... on SignInWithLinkPayload { ${SESSION} ... on Error { code message } } }`,
    { token },
  )
const withPassword = (password: string, as = email) =>
  t.send<{ signIn: SignedIn }>(
    { headers: from },
    `mutation ($input: SignInInput!) { signIn(input: $input) { __typename ... on SignInPayload { ${SESSION} ... on Error { code message } } }`,
    {
      input: { email: as, password },
    },
  )
const setPassword = (headers: Record<string, string>, input: object) =>
  t.send<{ setPassword: { __typename: string; message: string } }>(
    { headers },
    'mutation ($input: SetPasswordInput!) { setPassword(input: $input) { __typename ... on SetPasswordPayload { viewer { hasPassword } } ... on Error { message } } }',
    { input },
  )
const bearer = (token: string) => ({ ...from, authorization: `Bearer ${token}` })
const viewer = async (headers: Record<string, string>) =>
  (await t.ask<{ viewer: { name: string } | null }>({ headers }, '{ viewer { name } }')).viewer
const token = (link: string) => /#token=(\w+)$/.exec(link)![1]!

test('the owner signs in with a single-use link, sets a password and signs in with it', async () => {
  expect(signInLink).toMatch(`${PUBLIC_URL}/sign-in#token=`)
  const again = await firstStart(t, { tenantName: 'First', email: 'other@muster.test', publicUrl: PUBLIC_URL })
  expect(again).toMatchObject({ created: false, email: 'owner@muster.test' })
  expect(again.signInLink).not.toBe(signInLink)

  const first = await withLink(token(signInLink))
  expect(first.data.signInWithLink.viewer).toMatchObject({
    role: 'owner',
    tenant: { name: 'First' },
    hasPassword: false,
    kind: 'USER',
  })
  const cookie = first.headers.getSetCookie().find((each) => each.includes('session_token'))!
  expect(cookie).toMatch(/^__Host-muster\.session_token=.*HttpOnly.*$/)
  expect(cookie).toMatch(/; Secure/)
  expect(cookie).toMatch(/SameSite=Lax/i)
  const asCookie = { ...from, cookie: cookie.split(';')[0]! }
  expect(await viewer(asCookie)).toEqual({ name: 'Owner' })

  const second = await withLink(token(signInLink))
  expect(second.data.signInWithLink).toMatchObject({
    __typename: 'UnauthenticatedError',
    message: expect.stringContaining('already used'),
  })
  expect(second.headers.getSetCookie()).toEqual([])

  expect((await setPassword(asCookie, { password: 'short' })).data.setPassword).toMatchObject({
    __typename: 'InvalidInputError',
    message: 'input.password: must have 12 to 128 characters',
  })
  expect((await setPassword(asCookie, { password: 'correct horse battery' })).data.setPassword).toEqual({
    __typename: 'SetPasswordPayload',
    viewer: { hasPassword: true },
  })
  // A link from before must not bypass the password.
  expect((await withLink(token(again.signInLink!))).data.signInWithLink.message).toMatch('A password or passkey was set')
  expect((await firstStart(t, { tenantName: 'First', email, publicUrl: PUBLIC_URL })).signInLink).toBeNull()

  const signedIn = await withPassword('correct horse battery', ' OWNER@muster.test ')
  expect(signedIn.data.signIn.viewer).toMatchObject({ user: { email }, hasPassword: true })
  expect(await viewer(bearer(signedIn.data.signIn.sessionToken))).toEqual({ name: 'Owner' })
})

test('prints no link for an owner who signs in at a provider, and no link replaces a second factor', async () => {
  const { db } = t.runtime
  const owner = (await db.query.users.findFirst({ where: { email: 'owner@muster.test' } }))!
  const own = await db.delete(schema.accounts).where(eq(schema.accounts.userId, owner.id)).returning()
  const start = () => firstStart(t, { tenantName: 'First', email, publicUrl: PUBLIC_URL })
  const { signInLink: link } = await start()
  await db.update(schema.users).set({ twoFactorEnabled: true }).where(eq(schema.users.id, owner.id))
  const answer = await withLink(token(link!))
  expect(answer.data.signInWithLink.message).toContain('authenticator app')
  expect(answer.headers.getSetCookie()).toEqual([])
  await db.insert(schema.accounts).values({ userId: owner.id, providerId: 'oidc', accountId: 'https://id.test owner' })
  expect((await start()).signInLink).toBeNull()
  await db.delete(schema.accounts).where(eq(schema.accounts.userId, owner.id))
  await db.insert(schema.accounts).values(own)
  await db.update(schema.users).set({ twoFactorEnabled: false }).where(eq(schema.users.id, owner.id))
})

test('a wrong password and an unknown address return the same error and log no warning', async () => {
  const [info, warn] = [vi.spyOn(t.runtime.log, 'info'), vi.spyOn(t.runtime.log, 'warn')]
  const wrong = await withPassword('not the password at all')
  const unknown = await withPassword('not the password at all', 'nobody@muster.test')
  expect(wrong.data.signIn).toMatchObject({
    __typename: 'UnauthenticatedError',
    message: 'The email address or the password is wrong.',
  })
  expect(unknown.data.signIn).toEqual(wrong.data.signIn)
  expect(info).toHaveBeenCalledWith({ from: 'better-auth' }, 'User not found')
  expect(warn).not.toHaveBeenCalled()
  vi.restoreAllMocks()
})

test('changing a password requires the current one and ends other sessions', async () => {
  const [current, other] = [await withPassword('correct horse battery'), await withPassword('correct horse battery')]
  const [me, elsewhere] = [current, other].map(({ data }) => bearer(data.signIn.sessionToken))
  expect((await setPassword(me!, { password: 'another long one' })).data.setPassword.message).toMatch('current password')
  const changed = await setPassword(me!, { password: 'another long one', currentPassword: 'correct horse battery', name: 'Ada' })
  expect(changed.data.setPassword).toEqual({ __typename: 'SetPasswordPayload', viewer: { hasPassword: true } })
  expect(await viewer(me!)).toEqual({ name: 'Ada' })
  expect(await viewer(elsewhere!)).toBeNull()
  expect((await withPassword('correct horse battery')).data.signIn.__typename).toBe('UnauthenticatedError')
  await setPassword(me!, { password: 'correct horse battery', currentPassword: 'another long one', name: 'Owner' })
})

test('signing out ends the session and deletes the cookie', async () => {
  const { data, headers } = await withPassword('correct horse battery')
  const cookie = headers.getSetCookie()[0]!.split(';')[0]!
  const SIGN_OUT = 'mutation { signOut { ... on SignOutPayload { wasSignedIn } } }'
  const out = await t.send({ headers: { ...from, cookie } }, SIGN_OUT)
  expect(out.data).toEqual({ signOut: { wasSignedIn: true } })
  expect(out.headers.getSetCookie().join()).toMatch(/session_token=;.*Max-Age=0/)
  expect(await viewer(bearer(data.signIn.sessionToken))).toBeNull()
  expect(await t.ask(null, SIGN_OUT)).toEqual({ signOut: { wasSignedIn: false } })
})

test('a session expires', async () => {
  const { data } = await withPassword('correct horse battery')
  const { db } = connectDb(t.url, { max: 1 })
  await db
    .update(schema.sessions)
    .set({ expiresAt: new Date(Date.now() - 1000) })
    .where(eq(schema.sessions.token, hashToken(data.signIn.sessionToken)))
  await db.$client.end()
  expect(await viewer(bearer(data.signIn.sessionToken))).toBeNull()
})

test('an API token is valid with its role until it is revoked', async () => {
  const { owner, viewer: reader } = await t.given.tenant()
  const created = await t.ask<{ createApiToken: { secret: string; apiToken: { id: string; prefix: string } } }>(
    owner,
    'mutation { createApiToken(input: { name: "ci", role: "operator", expiresInSeconds: 86400 }) { ... on CreateApiTokenPayload { secret apiToken { id prefix role expiresAt } } } }',
  )
  const { secret, apiToken } = created.createApiToken
  expect(secret.startsWith(apiToken.prefix)).toBe(true)
  const me = await t.ask({ headers: bearer(secret) }, '{ viewer { kind name role user { id } apiToken { id } hasPassword } }')
  expect(me).toEqual({
    viewer: {
      kind: 'API_TOKEN',
      name: 'ci',
      role: 'operator',
      user: { id: globalId('User', owner.actor.id!) },
      apiToken: { id: apiToken.id },
      hasPassword: true,
    },
  })
  const greedy = await t.ask(
    { headers: bearer(secret) },
    'mutation { createApiToken(input: { name: "x", role: "owner" }) { __typename } }',
  )
  expect(greedy).toEqual({ createApiToken: { __typename: 'ForbiddenError' } })
  expect(await t.ask(reader, 'mutation { createApiToken(input: { name: "x", role: "viewer" }) { __typename } }')).toEqual({
    createApiToken: { __typename: 'ForbiddenError' },
  })

  const revoke =
    'mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { __typename ... on RevokeApiTokenPayload { apiToken { revokedAt } } } }'
  expect(await t.ask(owner, revoke, { id: apiToken.id })).toEqual({
    revokeApiToken: { __typename: 'RevokeApiTokenPayload', apiToken: { revokedAt: expect.any(String) } },
  })
  expect(await viewer(bearer(secret))).toBeNull()
  expect(await t.ask(owner, revoke, { id: apiToken.id })).toEqual({ revokeApiToken: { __typename: 'ConflictError' } })
  expect(await t.ask(owner, revoke, { id: 'nonsense' })).toEqual({ revokeApiToken: { __typename: 'NotFoundError' } })
})

test('rejects requests of other origins with a cookie', async () => {
  const { headers } = await withPassword('correct horse battery')
  const cookie = headers.getSetCookie()[0]!.split(';')[0]!
  const send = (origin: string, host = 'muster.test') =>
    t.send({ headers: { ...from, cookie, origin, host } }, '{ viewer { name } }')
  expect((await send('https://evil.test')).status).toBe(403)
  expect((await send('null')).status).toBe(403)
  expect((await send(PUBLIC_URL)).status).toBe(200)
  expect((await send('http://10.0.0.5:3000', '10.0.0.5:3000')).status).toBe(200)
  const form = await t.api.yoga.fetch(`${PUBLIC_URL}/graphql`, {
    method: 'POST',
    headers: { ...from, cookie, 'content-type': 'text/plain' },
    body: '{"query":"mutation { signOut { __typename } }"}',
  })
  expect(form.status).toBe(415)
  expect(await viewer({ ...from, cookie })).toEqual({ name: 'Owner' })
})

test('/graphql serves a landing page to browsers and executes GET queries', async () => {
  const open = (query: string) =>
    t.api.yoga.fetch(`${PUBLIC_URL}/graphql${query}`, { headers: { ...from, accept: 'text/html,*/*' } })
  const page = await open('')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(await page.text()).toContain(`${PUBLIC_URL}/settings/tokens`)
  expect(await (await open('?query={__typename}')).json()).toEqual({ data: { __typename: 'Query' } })
})

test('does not expose the routes of better-auth', async () => {
  for (const path of ['/api/auth/sign-up/email', '/api/auth/sign-in/email', '/api/auth/ok'])
    expect(
      (
        await t.api.yoga.fetch(`${PUBLIC_URL}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
      ).status,
    ).toBe(404)
})

test('ignores malformed cookies and tokens', async () => {
  for (const cookie of ['__Host-muster.session_token=%', '__Host-muster.session_token=', 'x', '=;;='])
    expect(await viewer({ ...from, cookie })).toBeNull()
  for (const authorization of ['Bearer', `Bearer ${'x'.repeat(5000)}`, 'Basic YTpi', "Bearer ' or 1=1 --", 'Bearer mst_x'])
    expect(await viewer({ ...from, authorization })).toBeNull()
})

test('members and users are visible in their tenant only', async () => {
  const [ours, theirs] = [await t.given.tenant(), await t.given.tenant()]
  const read = '{ members { totalCount edges { node { id role user { id name email } tenant { name } } } } }'
  type Members = { members: { edges: { node: { id: string; role: string; user: { id: string } } }[] } }
  const { members } = await t.ask<Members>(ours.viewer, read)
  expect(members).toMatchObject({ totalCount: 4 })
  expect(members.edges.map(({ node }) => node.role)).toEqual(['owner', 'admin', 'operator', 'viewer'])
  const { id, user } = members.edges[0]!.node
  const node = 'query ($id: ID!) { node(id: $id) { __typename id } }'
  for (const each of [id, user.id]) {
    expect(await t.ask(ours.viewer, node, { id: each })).toMatchObject({ node: { id: each } })
    expect(await t.ask(theirs.owner, node, { id: each })).toEqual({ node: null })
  }
  expect(await t.ask(theirs.owner, node, { id: globalId('Tenant', ours.tenant.id) })).toEqual({ node: null })
})
