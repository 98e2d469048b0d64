import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { type GraphQLInputObjectType, getNamedType, isRequiredInputField } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '../api.ts'
import { PEER } from '../http/request-facts.ts'
import type { Mailer } from '../mail/mailer.ts'
import { schema as schemaOfApi } from '../schema.ts'
import { AUTH_SECRET, PUBLIC_URL, testApi } from '../testing/api.ts'
import { insertSession } from '../testing/sessions.ts'
import { createAuth } from './auth.ts'
import type { Ldap } from './ldap.ts'
import type { Oidc } from './oidc.ts'

let t: Awaited<ReturnType<typeof testApi>>
/** Two API processes on one database. */
let processes: ReturnType<typeof createApi>[]
beforeAll(async () => {
  // Not called: the throttle rejects before.
  t = await testApi({ oidc: {} as Oidc, ldap: {} as Ldap, mailer: { send: async () => {} } as unknown as Mailer })
  const auth = createAuth({ db: t.runtime.db, secret: AUTH_SECRET, publicUrl: PUBLIC_URL, log: t.runtime.log })
  processes = [t.api, createApi({ ...t.api.deps, auth })]
})
afterAll(() => t?.close())

let addresses = 0
const newAddress = () => `198.51.100.${++addresses}`

async function send(number: number, headers: Record<string, string>, query: string, variables: object) {
  const response = await processes[number % 2]!.yoga.fetch(`${PUBLIC_URL}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  const { data } = (await response.json()) as { data: Record<string, { __typename: string; message: string }> }
  return data.it!
}
const SIGN_IN =
  'mutation ($email: String!, $password: String!) { it: signIn(input: { email: $email, password: $password }) { __typename ... on Error { message } } }'
const signIn = (number: number, email: string, { password = 'a wrong password', address = newAddress() } = {}) =>
  send(number, { [PEER]: address }, SIGN_IN, { email, password })
type Answer = Awaited<ReturnType<typeof send>>
const LINK = 'mutation { it: signInWithLink(input: { token: "abc" }) { __typename ... on Error { message } } }'
const kindOf = ({ __typename }: { __typename: string }) => __typename
const TOO_MANY = {
  __typename: 'UnavailableError',
  message: expect.stringMatching(/^Too many sign-in attempts. Try again in \d+ s.$/),
}

async function userWithPassword(email: string) {
  const { id } = await t.auth.ensureUser(email, 'Test')
  const { tenant } = await t.given.tenant()
  await t.runtime.db.insert(schema.members).values({ userId: id, tenantId: tenant.id, role: 'viewer' })
  const session = await insertSession(t.runtime.db, id)
  const headers = { authorization: `Bearer ${session.token}` }
  await t.ask({ headers }, 'mutation { setPassword(input: { password: "correct horse battery" }) { __typename } }')
  return { headers }
}

test('limits attempts per account and network over all processes, the right password included', async () => {
  await userWithPassword('known@muster.test')
  const address = newAddress()
  const known: Answer[] = []
  const unknown: Answer[] = []
  const attempt = async (i: number) => {
    known.push(await signIn(i, 'known@muster.test', { address }))
    unknown.push(await signIn(i, 'unknown@muster.test', { address }))
  }
  await attempt(0)
  // Each attempt computes a password hash, so seven of the ten are only counted.
  await t.runtime.db.update(schema.signInAttempts).set({ count: sql`count + 7` })
  for (const i of [8, 9, 10]) await attempt(i)
  expect(known.slice(0, 3).map(kindOf)).toEqual(Array(3).fill('UnauthenticatedError'))
  expect(known[3]).toMatchObject(TOO_MANY)
  // The responses do not reveal whether the account exists.
  expect(unknown.map(kindOf)).toEqual(known.map(kindOf))
  expect(await signIn(0, ' KNOWN@muster.test', { password: 'correct horse battery', address })).toMatchObject(TOO_MANY)
  // The account unlocks without an administrator.
  await t.runtime.db.update(schema.signInAttempts).set({ endsAt: sql`now()` })
  expect(await signIn(0, 'known@muster.test', { password: 'correct horse battery', address })).toMatchObject({
    __typename: 'SignInPayload',
  })
})

test('strangers do not lock a user out of a network in which the user signed in', async () => {
  const email = 'owner@muster.test'
  await userWithPassword(email)
  const [home, elsewhere, stranger] = [newAddress(), newAddress(), newAddress()]
  const withPassword = (address: string) => signIn(0, email, { password: 'correct horse battery', address })
  expect(kindOf(await withPassword(home))).toBe('SignInPayload')
  await signIn(0, email, { address: stranger })
  const isOf = (key: string) => sql`${schema.signInAttempts.key} like ${key}`
  await t.runtime.db
    .update(schema.signInAttempts)
    .set({ count: 10 })
    .where(isOf(`password:% ${stranger}`))
  expect(await withPassword(stranger)).toMatchObject(TOO_MANY)
  expect(kindOf(await withPassword(elsewhere))).toBe('SignInPayload')

  // Many networks together: only those that are new wait.
  await signIn(0, email, { address: stranger })
  await t.runtime.db
    .update(schema.signInAttempts)
    .set({ count: 100 })
    .where(sql`${schema.signInAttempts.key} ~ '^password:[^ ]+$'`)
  expect(await withPassword(newAddress())).toMatchObject(TOO_MANY)
  expect(kindOf(await withPassword(home))).toBe('SignInPayload')
})

test('concurrent attempts do not exceed the limit', async () => {
  const address = newAddress()
  const answers = await Promise.all(Array.from({ length: 14 }, (_, i) => signIn(i, 'parallel@muster.test', { address })))
  expect(answers.filter((each) => kindOf(each) === 'UnauthenticatedError').length).toBe(10)
})

test('limits attempts per address over all accounts and kinds of sign-in', async () => {
  const address = newAddress()
  const answers = []
  for (let i = 0; i < 27; i++) answers.push(await send(i, { [PEER]: address }, LINK, {}))
  for (let i = 0; i < 4; i++) answers.push(await signIn(i, `user${i}@muster.test`, { address, password: '' }))
  expect(answers.slice(0, 30).map(kindOf)).not.toContain('UnavailableError')
  expect(answers[30]).toMatchObject(TOO_MANY)
})

test('limits guesses of the current password', async () => {
  const { headers } = await userWithPassword('guess@muster.test')
  const SET =
    'mutation ($guess: String!) { it: setPassword(input: { password: "another long password", currentPassword: $guess }) { __typename ... on Error { message } } }'
  const answers = []
  const address = newAddress()
  for (let i = 0; i < 11; i++) answers.push(await send(i, { ...headers, [PEER]: address }, SET, { guess: `wrong ${i}` }))
  expect(kindOf(answers[9]!)).toBe('InvalidInputError')
  expect(answers[10]).toMatchObject(TOO_MANY)
  expect(await signIn(0, 'guess@muster.test', { password: 'correct horse battery', address })).toMatchObject(TOO_MANY)
})

const publicMutations = Object.values(schemaOfApi.getMutationType()!.getFields()).filter(({ extensions }) => {
  const { authScopes } = (extensions.pothosOptions ?? {}) as { authScopes?: { public?: true } }
  return authScopes?.public
})

test.each(publicMutations.filter(({ name }) => name !== 'signOut'))('limits attempts with $name', async ({ name, args }) => {
  const address = newAddress()
  await t.runtime.db
    .insert(schema.signInAttempts)
    .values({ key: `address:${address}`, count: 30, endsAt: sql`now() + interval '1 minute'` })
  const [input] = args
  const fields = input ? Object.values((getNamedType(input.type) as GraphQLInputObjectType).getFields()) : []
  const required = fields.filter(isRequiredInputField).map((field) => [field.name, 'a text of some length'])
  const query = input
    ? `mutation ($input: ${getNamedType(input.type).name}!) { it: ${name}(input: $input) { __typename ... on Error { message } } }`
    : `mutation { it: ${name} { __typename ... on Error { message } } }`
  expect(await send(0, { [PEER]: address }, query, { input: Object.fromEntries(required) })).toMatchObject(TOO_MANY)
})

test('addresses of one IPv6 network share a limit', async () => {
  const answers = []
  for (let i = 0; i < 31; i++) answers.push(await send(i, { [PEER]: `2001:db8::${i}:${i}` }, LINK, {}))
  expect(answers[30]).toMatchObject(TOO_MANY)
  expect(kindOf(await send(0, { [PEER]: '2001:db8:0:1::1' }, LINK, {}))).toBe('UnauthenticatedError')
})

test('limits attempts with sign-in links', async () => {
  const address = newAddress()
  const answers = []
  for (let i = 0; i < 31; i++) answers.push(await send(i, { [PEER]: address }, LINK, {}))
  expect(answers[30]).toMatchObject(TOO_MANY)
})

test('stores no email address or password of an attempt', async () => {
  await signIn(0, 'my secret instead of an address')
  expect(JSON.stringify(await t.runtime.db.select().from(schema.signInAttempts))).not.toContain('secret')
})
