import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { activateSession, ldapSettings } from '@muster/core/access'
import { loadConfig } from '@muster/core/config'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PEER } from '../http/request-facts.ts'
import { testApi } from '../testing/api.ts'
import { mutate } from '../testing/mutate.ts'
import { SERVICE, startSlapd } from '../testing/slapd.ts'
import { createLdap, WRONG_LDAP_PASSWORD } from './ldap.ts'

const { auditEntries, members, sessions, tenants, users } = schema
const LOCAL_PASSWORD = 'a long local password'
const PASSWORD = 'correct horse'
const person = (uid: string, more = '') => `
dn: uid=${uid},ou=people,dc=site,dc=test
objectClass: inetOrgPerson
cn: ${uid}
sn: ${uid}
mail: ${uid.replace('*', 'star')}@site.test
userPassword: ${PASSWORD}${more}
`
const group = (cn: string, ...members: string[]) => `
dn: cn=${cn},ou=groups,dc=site,dc=test
objectClass: groupOfNames
cn: ${cn}
${members.map((uid) => `member: uid=${uid},ou=people,dc=site,dc=test`).join('\n')}
`
const LDIF = `
dn: dc=site,dc=test
objectClass: domain
dc: site

dn: ou=people,dc=site,dc=test
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=site,dc=test
objectClass: organizationalUnit
ou: groups
${person('ada', '\ndisplayName: Ada Lovelace')}${person('bob')}${person('*')}${group('Operators', 'ada', 'bob')}${group('Admins', 'ada')}`

let slapd: Awaited<ReturnType<typeof startSlapd>>
let t: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  slapd = await startSlapd(LDIF)
  t = await testApi({ ldap: configured({ LDAP_USER_FILTER: '(|(uid={user})(mail={user}))' }) })
  tenant = await t.given.tenant()
  await t.runtime.db.update(tenants).set({ name: 'Ours' }).where(eq(tenants.id, tenant.tenant.id))
})
afterAll(async () => {
  await t?.close()
  await slapd?.close()
})
let address = 0
let from: Record<string, string>
beforeEach(() => {
  from = { [PEER]: `192.0.2.${++address}` }
})

const configured = (env: Record<string, string>, localTargets = [{ address: '127.0.0.1', prefix: 32, port: null }]) =>
  createLdap(
    loadConfig(
      {
        LDAP_URL: slapd.secure,
        LDAP_CA_FILE: slapd.ca,
        LDAP_BIND_DN: SERVICE.dn,
        LDAP_BIND_PASSWORD_FILE: slapd.passwordFile,
        LDAP_USER_BASE: 'ou=people,dc=site,dc=test',
        LDAP_GROUP_BASE: 'ou=groups,dc=site,dc=test',
        LDAP_ROLES: JSON.stringify({ operators: 'operator', 'CN=Admins, OU=groups,dc=site,dc=test': { Ours: 'admin' } }),
        ...env,
      },
      ldapSettings,
    ),
    { defaultTenant: 'Ours', localTargets },
  )!

type Result = { __typename: string; message?: string; sessionToken?: string; viewer?: { name: string; role: string } }
const SIGN_IN = `mutation ($input: SignInWithLdapInput!) { it: signInWithLdap(input: $input) { __typename
  ... on SignInWithLdapPayload { sessionToken viewer { name role } } ... on Error { message } } }`
const signIn = async (userName: string, password = PASSWORD, headers: Record<string, string> = {}, more: object = {}) =>
  (await t.ask<{ it: Result }>({ headers: { ...from, ...headers } }, SIGN_IN, { input: { userName, password, ...more } })).it

test.each(['secure', 'plain'] as const)('signs in over %s connections with the roles of the groups', async (kind) => {
  const ldap = configured({ LDAP_URL: slapd[kind] })
  const ada = await ldap.authenticate('ada', PASSWORD)
  expect(ada).toMatchObject({ email: 'ada@site.test', isEmailVerified: false, name: 'Ada Lovelace' })
  expect(ada.subject).toMatch(/^entryUUID=[\da-f-]{36}$/)
  expect(ada.roles).toEqual(new Map([['Ours', ['operator', 'admin']]]))
  expect((await ldap.authenticate('bob', PASSWORD)).roles).toEqual(new Map([['Ours', ['operator']]]))
})

test('creates the member at the first sign-in, and records it', async () => {
  expect((await signIn(' ADA ')).viewer).toEqual({ name: 'Ada Lovelace', role: 'admin' })
  expect((await signIn('ada')).viewer).toEqual({ name: 'Ada Lovelace', role: 'admin' })
  expect(await t.runtime.db.$count(members, eq(members.provider, 'ldap'))).toBe(1)
})

test('a wrong password, no password, an unknown user and a filter as the name get the same response', async () => {
  const names = ['ada', 'nobody', 'ada)(uid=*', '*)(uid=ada', 'a*', '\\2a', 'ada\0', 'uid=ada,ou=people,dc=site,dc=test', '']
  for (const name of names)
    for (const password of name === 'ada' ? ['wrong', ''] : [PASSWORD])
      expect(await signIn(name, password), name).toEqual({ __typename: 'UnauthenticatedError', message: WRONG_LDAP_PASSWORD })
  const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectName, 'nobody'))
  expect(entries).toMatchObject([{ action: 'session.create', outcome: 'failed' }])
})

test('a name is matched literally', async () => {
  expect((await configured({}).authenticate('*', PASSWORD)).email).toBe('star@site.test')
})

test('limits guesses per user, the right password included', async () => {
  for (let i = 0; i < 10; i++) await signIn('bob', 'wrong')
  expect(await signIn('bob')).toMatchObject({ __typename: 'UnavailableError', message: expect.stringContaining('Too many') })
  expect((await signIn('ada')).__typename).toBe('SignInWithLdapPayload')
})

test('limits guesses per entry, under all of its names, and records them in the tenants of the user', async () => {
  await signIn('ada')
  for (let i = 0; i < 10; i++) await signIn(i % 2 ? 'ada' : 'ada@site.test', 'wrong')
  expect(await signIn('ada')).toMatchObject({ __typename: 'UnavailableError', message: expect.stringContaining('Too many') })
  const isHere = and(eq(auditEntries.tenantId, tenant.tenant.id), eq(auditEntries.address, from[PEER]!))
  const entries = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(isHere, eq(auditEntries.outcome, 'failed')))
  expect(entries).toHaveLength(11)
  expect(entries[0]).toMatchObject({ action: 'session.create', actorKind: 'anonymous', objectName: 'ada@site.test' })
})

test('does not take over an account by its address; its user connects it', async () => {
  await t.runtime.db.update(users).set({ email: 'star@site.test' }).where(eq(users.id, tenant.viewer.actor.id!))
  expect(await signIn('*')).toMatchObject({ __typename: 'ConflictError', message: expect.stringContaining('not connected') })
  const token = await t.auth.createSignInToken('star@site.test')
  const link = await t.auth.signInWithLink({ headers: new Headers(from), requestId: 'x', responseHeaders: new Headers() }, token)
  await activateSession(t.runtime.db, link.sessionToken)
  expect(await signIn('*', PASSWORD, {}, { connect: true })).toMatchObject({ __typename: 'InvalidInputError' })
  const connected = await signIn('*', PASSWORD, { authorization: `Bearer ${link.sessionToken}` }, { connect: true })
  expect(connected.sessionToken).toBe(link.sessionToken)
  expect((await signIn('*')).viewer).toMatchObject({ role: 'viewer' })
})

test('a user of the directory confirms their identity with its password, and has the role of groups only there', async () => {
  const { sessionToken } = await signIn('ada')
  const asAda = { headers: { ...from, authorization: `Bearer ${sessionToken}` } }
  await t.runtime.db.update(sessions).set({ authenticatedAt: new Date(Date.now() - 3_600_000) })
  t.auth.clearCallerCache()
  const setPassword = async () => (await mutate(t, asAda, 'setPassword', '', { password: LOCAL_PASSWORD })).__typename
  expect(await setPassword()).toBe('StepUpRequiredError')
  const confirm = (userName: string, password: string) =>
    mutate(t, asAda, 'confirmIdentity', '', { ldap: { userName, password } })
  expect((await confirm('ada', 'wrong')).__typename).toBe('UnauthenticatedError')
  expect(await confirm('bob', PASSWORD)).toMatchObject({ issues: [{ path: 'input.ldap' }] })
  expect(await setPassword()).toBe('StepUpRequiredError')
  expect((await confirm('ada', PASSWORD)).__typename).toBe('ConfirmIdentityPayload')
  expect(await setPassword()).toBe('SetPasswordPayload')
  const local = await mutate(t, { headers: from }, 'signIn', '', { email: 'ada@site.test', password: LOCAL_PASSWORD })
  expect(local).toMatchObject({ __typename: 'UnauthenticatedError', message: expect.stringContaining('Sign in with') })
})

test('sends no password without TLS, or to a server with an untrusted certificate', async () => {
  const received: Buffer[] = []
  const server = createServer((socket) => {
    socket.on('data', (chunk) => received.push(chunk))
    socket.on('error', () => {})
    // Refuses STARTTLS: an extended response with the result "protocol error".
    socket.once('data', () => socket.end(Buffer.from('300c02010178070a010204000400', 'hex')))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const LDAP_URL = `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(configured({ LDAP_URL }).authenticate('ada', PASSWORD)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  server.close()
  expect(Buffer.concat(received).length).toBeGreaterThan(0)
  for (const secret of [PASSWORD, SERVICE.password]) expect(Buffer.concat(received).includes(secret)).toBe(false)

  for (const url of [slapd.secure, slapd.plain]) {
    const untrusted = { code: 'UNAVAILABLE', message: expect.stringContaining('untrusted certificate') }
    await expect(configured({ LDAP_URL: url, LDAP_CA_FILE: '' }).authenticate('ada', PASSWORD)).rejects.toMatchObject(untrusted)
    // The certificate is for 127.0.0.1 only.
    const other = url.replace('127.0.0.1', 'localhost')
    const local = [
      { address: '127.0.0.1', prefix: 32, port: null },
      { address: '::1', prefix: 128, port: null },
    ]
    await expect(configured({ LDAP_URL: other }, local).authenticate('ada', PASSWORD)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
  }
})

test('reports a directory that does not work, with the next step', async () => {
  const check = async (env: Record<string, string>, local?: []) => (await configured(env, local).check())[0]!
  expect(await check({})).toMatchObject({ severity: 'OK', nextStep: null })
  expect(await check({ LDAP_ROLES: '{}' })).toMatchObject({
    severity: 'WARNING',
    nextStep: expect.stringContaining('LDAP_ROLES'),
  })
  const nobody = await check({ LDAP_USER_BASE: 'ou=nobody,dc=site,dc=test' })
  expect(nobody).toMatchObject({ severity: 'ERROR', nextStep: expect.stringContaining('LDAP_USER_BASE') })
  expect(await check({}, [])).toMatchObject({ severity: 'ERROR', message: expect.stringContaining('LOCAL_TARGETS') })
  expect(await check({ LDAP_URL: 'ldaps://127.0.0.1:1' })).toMatchObject({
    severity: 'ERROR',
    message: expect.stringContaining('ECONNREFUSED'),
  })
  const wrong = path.join(path.dirname(slapd.ca), 'wrong')
  writeFileSync(wrong, 'wrong')
  expect(await check({ LDAP_BIND_PASSWORD_FILE: wrong })).toMatchObject({
    severity: 'ERROR',
    message: expect.stringContaining('service account'),
  })
  expect(() => configured({ LDAP_GROUP_BASE: '' })).toThrow('LDAP_GROUP_BASE')
  expect(() => configured({ LDAP_URL: 'http://x' })).toThrow('LDAP_URL')
  expect(() => configured({ LDAP_USER_FILTER: '(uid=*)' })).toThrow('{user}')
  const list = await t.ask<{ it: object[] }>(null, '{ it: signInMethods { kind name } }')
  expect(list.it).toContainEqual({ kind: 'LDAP', name: '127.0.0.1' })
})
