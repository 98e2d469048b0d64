import { addMember, createApiToken, mailSettings } from '@muster/core/access'
import { loadConfig } from '@muster/core/config'
import { actorRole } from '@muster/core/permissions'
import { type Ctx, schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { PEER } from '../../http/request-facts.ts'
import { createMailer } from '../../mail/mailer.ts'
import { type As, PUBLIC_URL, testApi } from '../../testing/api.ts'
import { createMailReceiver } from '../../testing/mail-receiver.ts'
import { mutate } from '../../testing/mutate.ts'
import { insertPasskey } from '../../testing/sessions.ts'
import { globalId } from '../shared/ids.ts'

let server: Awaited<ReturnType<typeof createMailReceiver>>
let t: Awaited<ReturnType<typeof testApi>>
/** The same, without a mail server. */
let silent: Awaited<ReturnType<typeof testApi>>
let ours: TenantFixture
beforeAll(async () => {
  server = await createMailReceiver({ disabledCommands: ['STARTTLS'] })
  const settings = loadConfig({ SMTP_URL: `smtp+plain://127.0.0.1:${server.port}` }, mailSettings)
  t = await testApi({ mailer: createMailer(settings, PUBLIC_URL) })
  silent = await testApi()
})
afterAll(async () => {
  await t?.close()
  await silent?.close()
  await server?.stop()
})
// Sign-in attempts are limited per address.
let address = 0
let from: Record<string, string>
beforeEach(async () => {
  ours = await t.given.tenant()
  from = { [PEER]: `192.0.2.${++address}` }
})

const PASSWORD = 'correct horse battery'
const as = (headers: Record<string, string>) => ({ headers: { ...from, ...headers } }) satisfies As
const bearer = (token: string) => as({ authorization: `Bearer ${token}` })
const tokenOf = (text: string) => /#token=([\w-]+)/.exec(text)![1]!
const invite = (email: string, input: object = {}) =>
  mutate(t, ours.admin, 'inviteMember', 'link deliveryProblem invitation { id email }', { email, role: 'operator', ...input })
const accept = (input: object, by: As = as({})) =>
  mutate(t, by, 'acceptInvitation', 'sessionToken viewer { name role tenant { name } }', input)
const viewer = async (by: As) =>
  (await t.ask<{ viewer: { role: string; tenant: { name: string } } | null }>(by, '{ viewer { role tenant { name } } }')).viewer
const mailTo = (email: string) => server.mails.filter(({ to }) => to.includes(email))
const memberId = async ({ actor, tenantId }: Ctx, userId = actor.id!) =>
  globalId('Member', (await t.runtime.db.query.members.findFirst({ where: { tenantId, userId } }))!.id)

async function join(email: string): Promise<string> {
  await invite(email)
  const result = await accept({ token: tokenOf(mailTo(email).at(-1)!.text), name: 'Ada', password: PASSWORD })
  return result.sessionToken as string
}

test('invites by mail; accepting creates the user and signs in', async () => {
  expect(await invite('ada@site.test')).toMatchObject({
    link: null,
    deliveryProblem: null,
    invitation: { email: 'ada@site.test' },
  })
  const [mail] = mailTo('ada@site.test')
  expect(mail!.text).toContain(`${PUBLIC_URL}/invitation#token=`)
  const token = tokenOf(mail!.text)
  const read = `{ openInvitation(token: "${token}") { email role tenantName hasAccount } }`
  expect(await t.ask(null, read)).toEqual({
    openInvitation: { email: 'ada@site.test', role: 'operator', tenantName: ours.tenant.name, hasAccount: false },
  })
  expect(await accept({ token, name: 'Ada', password: 'short' })).toMatchObject({ __typename: 'InvalidInputError' })
  const accepted = await accept({ token, name: 'Ada', password: PASSWORD })
  expect(accepted.viewer).toEqual({ name: 'Ada', role: 'operator', tenant: { name: ours.tenant.name } })
  expect(await accept({ token, name: 'Eve', password: PASSWORD })).toMatchObject({ __typename: 'NotFoundError' })
  expect(await t.ask(null, read)).toEqual({ openInvitation: null })
})

test('shows the link once when the installation sends no email, and when sending fails', async () => {
  const { admin } = await silent.given.tenant()
  const input = { email: 'bob@site.test', role: 'viewer', idempotencyKey: 'k1' }
  const shown = await mutate(silent, admin, 'inviteMember', 'link deliveryProblem', input)
  expect(shown).toMatchObject({ link: expect.stringContaining(`${PUBLIC_URL}/invitation#token=msi_`), deliveryProblem: null })
  expect(await mutate(silent, admin, 'inviteMember', 'link', input)).toMatchObject({ __typename: 'ConflictError' })
  const send = vi.spyOn(t.api.deps.mailer!, 'send')
  const { Unavailable } = await import('@muster/core/errors')
  send.mockRejectedValueOnce(new Unavailable('The email could not be sent.'))
  expect(await invite('carol@site.test')).toMatchObject({
    link: expect.any(String),
    deliveryProblem: 'The email could not be sent.',
  })
  send.mockRestore()
})

test('an existing user accepts with password or session, never with the link alone', async () => {
  const session = await join('dora@site.test')
  ours = await t.given.tenant()
  await invite('dora@site.test')
  const token = tokenOf(mailTo('dora@site.test').at(-1)!.text)
  expect(await accept({ token, name: 'Eve', password: 'a password of Eve' })).toMatchObject({
    __typename: 'UnauthenticatedError',
  })
  const stranger = await join('eve@site.test')
  expect(await accept({ token }, bearer(stranger))).toMatchObject({ __typename: 'ForbiddenError' })
  expect(await accept({ token }, bearer(session))).toMatchObject({ viewer: { name: 'Ada', tenant: { name: ours.tenant.name } } })
  expect(await viewer(bearer(session))).toMatchObject({ tenant: { name: ours.tenant.name } })
  ours = await t.given.tenant()
  await invite('dora@site.test')
  const next = tokenOf(mailTo('dora@site.test').at(-1)!.text)
  expect(await accept({ token: next, password: PASSWORD })).toMatchObject({ viewer: { name: 'Ada' } })
})

test('a user of several tenants switches between them; the header names the tenant of one request', async () => {
  const first = ours.tenant.name
  const session = await join('fay@site.test')
  ours = await t.given.tenant()
  const second = ours.tenant.name
  await invite('fay@site.test', { role: 'viewer' })
  await accept({ token: tokenOf(mailTo('fay@site.test').at(-1)!.text) }, bearer(session))
  const read = '{ viewer { tenants { id name } } }'
  const { viewer: me } = await t.ask<{ viewer: { tenants: { id: string; name: string }[] } }>(bearer(session), read)
  expect(me.tenants.map(({ name }) => name)).toEqual([first, second])
  const switched = await mutate(t, bearer(session), 'switchTenant', 'viewer { tenant { name } }', { tenantId: me.tenants[0]!.id })
  expect(switched).toMatchObject({ viewer: { tenant: { name: first } } })
  expect(await viewer(bearer(session))).toEqual({ role: 'operator', tenant: { name: first } })

  const inTenant = (name: string) => as({ authorization: `Bearer ${session}`, 'x-muster-tenant': name })
  expect(await viewer(inTenant(second))).toEqual({ role: 'viewer', tenant: { name: second } })
  expect(await viewer(inTenant(me.tenants[0]!.id))).toEqual({ role: 'operator', tenant: { name: first } })
  const other = await t.given.tenant()
  expect((await t.send(inTenant(other.tenant.name), '{ viewer { role } }')).errors![0]).toMatchObject({
    message: expect.stringContaining('You are not an active member'),
    extensions: { code: 'FORBIDDEN' },
  })
  const wrong = as({ authorization: `Bearer ${await t.tokenOf(ours.owner)}`, 'x-muster-tenant': first })
  expect((await t.send(wrong, '{ viewer { role } }')).errors![0]!.message).toContain(`belongs to the tenant ${second}`)
  const foreign = { tenantId: globalId('Tenant', other.tenant.id) }
  expect(await mutate(t, bearer(session), 'switchTenant', '', foreign)).toMatchObject({ __typename: 'ForbiddenError' })
})

test('a suspended or removed member loses access at once', async () => {
  const session = await join('gil@site.test')
  const user = await t.runtime.db.query.users.findFirst({ where: { email: 'gil@site.test' } })
  const id = await memberId(ours.admin, user!.id)
  expect(await viewer(bearer(session))).toMatchObject({ role: 'operator' })
  await mutate(t, ours.admin, 'changeMemberRole', 'member { role }', { id, role: 'viewer' })
  expect(await viewer(bearer(session))).toMatchObject({ role: 'viewer' })
  const suspended = await mutate(t, ours.admin, 'suspendMember', 'member { suspendedAt suspendedBy { name } }', { id })
  expect(suspended.member).toMatchObject({ suspendedAt: expect.any(String), suspendedBy: { name: 'test admin' } })
  expect(await viewer(bearer(session))).toBeNull()
  await mutate(t, ours.admin, 'resumeMember', '', { id })
  expect(await viewer(bearer(session))).toMatchObject({ role: 'viewer' })
  expect(await mutate(t, ours.admin, 'removeMember', 'deletedId', { id })).toMatchObject({ deletedId: id })
  expect(await viewer(bearer(session))).toBeNull()
})

test('members have the reasons why the caller may not change them', async () => {
  const read = '{ members { edges { node { role changeBlockedReason transferBlockedReason } } } }'
  type Row = { node: { role: string; changeBlockedReason: string | null; transferBlockedReason: string | null } }
  const reasons = async (by: Ctx) =>
    (await t.ask<{ members: { edges: Row[] } }>(by, read)).members.edges.map(({ node }) => [
      node.role,
      node.changeBlockedReason === null,
      node.transferBlockedReason === null,
    ])
  const rest = ['admin', 'operator', 'viewer']
  expect(await reasons(ours.owner)).toEqual([['owner', true, false], ...rest.map((role) => [role, true, true])])
  expect(await reasons(ours.admin)).toEqual([['owner', false, false], ...rest.map((role) => [role, true, false])])
  expect(await reasons(ours.viewer)).toEqual(['owner', ...rest].map((role) => [role, false, false]))
  const { id } = (await invite('hal@site.test')).invitation
  const node = 'query ($id: ID!) { node(id: $id) { id } }'
  expect(await t.ask(ours.admin, node, { id })).toEqual({ node: { id } })
  expect(await t.ask(ours.viewer, node, { id })).toEqual({ node: null })
  const { errors } = await t.send(ours.operator, '{ invitations { totalCount } }')
  expect(errors![0]).toMatchObject({ message: expect.stringContaining('member:write'), extensions: { code: 'FORBIDDEN' } })
})

test('resets a password by mail: the same answer for unknown addresses, a link that works once, no session left', async () => {
  const session = await join('ida@site.test')
  const before = server.mails.length
  const ask = (email: string) => mutate(t, as({}), 'requestPasswordReset', 'email', { email })
  expect(await ask('nobody@site.test')).toEqual({ __typename: 'RequestPasswordResetPayload', email: 'nobody@site.test' })
  expect(await ask('ida@site.test')).toEqual({ __typename: 'RequestPasswordResetPayload', email: 'ida@site.test' })
  await vi.waitFor(() => expect(server.mails.length).toBe(before + 1))
  const mail = mailTo('ida@site.test').at(-1)!
  expect(mail.text).toContain(`${PUBLIC_URL}/reset-password#token=`)
  const token = tokenOf(mail.text)
  expect(JSON.stringify(await t.runtime.db.query.verifications.findMany())).not.toContain(token)
  const reset = (password: string) => mutate(t, as({}), 'resetPassword', 'wasReset', { token, password })
  expect(await reset('short')).toMatchObject({ __typename: 'InvalidInputError' })
  expect(await reset('another long one')).toMatchObject({ wasReset: true })
  expect(await reset('another long two')).toMatchObject({ __typename: 'UnauthenticatedError' })
  expect(await viewer(bearer(session))).toBeNull()
  const signIn = (password: string) => mutate(t, as({}), 'signIn', 'viewer { name }', { email: 'ida@site.test', password })
  expect(await signIn(PASSWORD)).toMatchObject({ __typename: 'UnauthenticatedError' })
  expect(await signIn('another long one')).toMatchObject({ viewer: { name: 'Ada' } })
  expect(await mutate(silent, as({}), 'requestPasswordReset', 'email', { email: 'ida@site.test' })).toMatchObject({
    __typename: 'UnavailableError',
    message: expect.stringContaining('bin/muster-admin reset-owner'),
  })
})

/** The audit rows that `work` adds. */
async function rowsOf(work: () => Promise<unknown>) {
  const { auditEntries } = schema
  const before = await t.runtime.db.$count(auditEntries)
  await work()
  return (await t.runtime.db.select().from(auditEntries).orderBy(auditEntries.id)).slice(before)
}
const sessionsOf = (email: string) =>
  t.runtime.db.$count(schema.sessions, sql`${schema.sessions.userId} in (select id from users where email = ${email})`)

test('a reset is recorded in each tenant of the user, and removes what may belong to another person', async () => {
  const email = 'jo@site.test'
  await join(email)
  const { db } = t.runtime
  const user = (await db.query.users.findFirst({ where: { email } }))!
  const addWays = async () => {
    await insertPasskey(db, user.id)
    await db.insert(schema.accounts).values({ userId: user.id, providerId: 'ldap', accountId: `entry ${email}` })
    const actor = { kind: 'user' as const, id: user.id, name: 'Ada', ...actorRole('operator') }
    await createApiToken({ ...ours.admin, actor }, { name: 'ci', role: 'viewer' })
  }
  const ways = async () => ({
    passkeys: await db.$count(schema.passkeys, eq(schema.passkeys.userId, user.id)),
    identities: await db.$count(
      schema.accounts,
      and(eq(schema.accounts.userId, user.id), eq(schema.accounts.providerId, 'ldap')),
    ),
    tokens: await db.$count(schema.apiTokens, and(eq(schema.apiTokens.ownerId, user.id), isNull(schema.apiTokens.revokedAt))),
  })
  const reset = async () => {
    const sent = mailTo(email).length
    await mutate(t, as({}), 'requestPasswordReset', 'email', { email })
    await vi.waitFor(() => expect(mailTo(email).length).toBe(sent + 1))
    const token = tokenOf(mailTo(email).at(-1)!.text)
    return rowsOf(async () =>
      expect(await mutate(t, as({}), 'resetPassword', 'wasReset', { token, password: 'another long one' })).toMatchObject({
        wasReset: true,
      }),
    )
  }
  const RESET = { action: 'user.reset_password', outcome: 'succeeded', actorId: user.id, objectId: user.id, channel: 'api' }

  // Nobody has proven yet that the address is the user's.
  await db.update(schema.users).set({ emailVerified: false }).where(eq(schema.users.id, user.id))
  await addWays()
  const rows = await reset()
  expect(rows.map(({ action }) => action).sort()).toEqual(['api_token.revoke', 'user.reset_password'])
  const row = rows.find(({ action }) => action === 'user.reset_password')
  expect(row).toMatchObject({
    ...RESET,
    tenantId: ours.tenant.id,
    address: from[PEER],
    requestId: expect.any(String),
    details: { passkeys: 1, identities: 1 },
  })
  expect(await ways()).toEqual({ passkeys: 0, identities: 0, tokens: 0 })
  await addWays()
  expect(await reset()).toMatchObject([RESET])
  expect(await ways()).toEqual({ passkeys: 1, identities: 1, tokens: 1 })
})

test('a rejected sign-in leaves neither session nor cookie', async () => {
  const email = 'kim@site.test'
  await join(email)
  const user = (await t.runtime.db.query.users.findFirst({ where: { email } }))!
  await mutate(t, ours.admin, 'suspendMember', '', { id: await memberId(ours.admin, user.id) })
  await t.runtime.db.delete(schema.sessions).where(eq(schema.sessions.userId, user.id))
  const signIn = (headers = {}) =>
    t.send<{ signIn: { __typename: string } }>(
      as(headers),
      `mutation { signIn(input: { email: "${email}", password: "${PASSWORD}" }) { __typename } }`,
    )
  const rejected = await signIn()
  expect(rejected.data.signIn.__typename).toBe('UnauthenticatedError')
  expect(rejected.headers.getSetCookie()).toEqual([])
  expect(await sessionsOf(email)).toBe(0)

  ours = await t.given.tenant()
  await invite(email)
  // Became a member in another way, after the invitation.
  await addMember(ours.admin, { userId: user.id, role: 'viewer' })
  const token = tokenOf(mailTo(email).at(-1)!.text)
  expect(await accept({ token, password: PASSWORD })).toMatchObject({ __typename: 'ConflictError' })
  expect(await sessionsOf(email)).toBe(0)
})

test('an accepted invitation is recorded once, in its tenant, with the client and the session', async () => {
  await t.tokenOf(ours.admin)
  let session = ''
  const first = await rowsOf(async () => (session = await join('lea@site.test')))
  const accepted = ['invitation.accept', 'member.add', 'session.create']
  expect(first.map(({ action }) => action)).toEqual(['invitation.create', ...accepted])
  for (const row of first.slice(1))
    expect(row).toMatchObject({ tenantId: ours.tenant.id, actorName: 'Ada', actorKind: 'user', address: from[PEER] })
  ours = await t.given.tenant()
  await invite('lea@site.test')
  const token = tokenOf(mailTo('lea@site.test').at(-1)!.text)
  const second = await rowsOf(() => accept({ token }, bearer(session)))
  expect(second.map(({ action }) => action)).toEqual(['invitation.accept', 'member.add', 'tenant.switch'])
  for (const row of second) expect(row).toMatchObject({ tenantId: ours.tenant.id, actorName: 'Ada', address: from[PEER] })
})

test('tokens work from their networks, and at most as long as the installation allows', async () => {
  const created = await mutate(t, ours.operator, 'createApiToken', 'secret apiToken { networks owner { name } expiresAt }', {
    name: 'ci',
    role: 'viewer',
    networks: ['198.51.100.0/24'],
  })
  expect(created.apiToken).toMatchObject({ networks: ['198.51.100.0/24'], owner: { name: `operator of ${ours.tenant.name}` } })
  const use = (peer: string) => viewer({ headers: { [PEER]: peer, authorization: `Bearer ${created.secret}` } })
  expect(await use('198.51.100.7')).toMatchObject({ role: 'viewer' })
  expect(await use('198.51.101.7')).toBeNull()
  const long = { name: 'long', role: 'viewer', expiresInSeconds: 366 * 86_400 }
  expect(await mutate(t, ours.operator, 'createApiToken', '', long)).toMatchObject({ __typename: 'InvalidInputError' })
})
