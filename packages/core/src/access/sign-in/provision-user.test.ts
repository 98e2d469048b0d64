import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/index.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { changeMemberRole } from '../members/change-member-role.ts'
import { suspendMember } from '../members/suspend-member.ts'
import { findMemberships } from '../queries.ts'
import { accounts, members, users } from '../tables.ts'
import { groupRolesSetting, rolesOf } from './group-roles.ts'
import { provisionUser } from './provision-user.ts'

let t: TestRuntime
let ours: TenantFixture
let other: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  ours = await t.given.tenant()
  other = await t.given.tenant()
})
afterAll(() => t.close())

let count = 0
const person = () => {
  const name = `person${++count}`
  return { subject: `https://idp.test ${name}`, email: `${name}@idp.test`, name }
}
type Person = ReturnType<typeof person>
type Options = { isEmailVerified?: boolean; userId?: string; provider?: 'oidc' | 'ldap' }

const signIn = (
  who: Person,
  roles: [TenantFixture, string][],
  { isEmailVerified = true, userId, provider = 'oidc' }: Options = {},
) =>
  provisionUser(t.runtime, {
    ...who,
    provider,
    isEmailVerified,
    userId: userId ?? null,
    roles: new Map(roles.map(([{ tenant }, role]) => [tenant.name, [role]])),
  })
const memberOf = async ({ tenant }: TenantFixture, userId: string) =>
  (await t.runtime.db.query.members.findFirst({ where: { tenantId: tenant.id, userId } }))!
const rolesIn = async (userId: string) =>
  Object.fromEntries(
    (await findMemberships(t.runtime.db, userId, 'any')).map(({ tenantName, authority }) => [tenantName, authority.role]),
  )
const actionsOn = async ({ tenant }: TenantFixture, objectId: string) =>
  (
    await t.runtime.db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.tenantId, tenant.id), eq(auditEntries.objectId, objectId)))
      .orderBy(auditEntries.id)
  ).map(({ action, actorName }) => `${action} by ${actorName}`)
const FORBIDDEN = { code: 'FORBIDDEN' }
const CONFLICT = { code: 'CONFLICT' }

test('creates a user with the roles of its groups, and follows them at each sign-in', async () => {
  const who = person()
  const { userId } = await signIn(who, [
    [ours, 'admin'],
    [other, 'viewer'],
  ])
  expect(await rolesIn(userId)).toEqual({ [ours.tenant.name]: 'admin', [other.tenant.name]: 'viewer' })
  expect(await signIn(who, [[ours, 'operator']])).toMatchObject({ userId })
  expect(await rolesIn(userId)).toEqual({ [ours.tenant.name]: 'operator' })
  await signIn(who, [
    [ours, 'operator'],
    [other, 'viewer'],
  ])
  expect(await rolesIn(userId)).toEqual({ [ours.tenant.name]: 'operator', [other.tenant.name]: 'viewer' })
  expect(await actionsOn(ours, (await memberOf(ours, userId)).id)).toEqual([
    'member.add by OIDC sign-in',
    'member.change_role by OIDC sign-in',
  ])
  expect(await actionsOn(other, (await memberOf(other, userId)).id)).toEqual(
    ['member.add', 'member.suspend', 'member.resume'].map((action) => `${action} by OIDC sign-in`),
  )
})

test('the only installation administrator keeps access without a group', async () => {
  const who = person()
  const { userId } = await signIn(who, [[ours, 'operator']])
  await t.runtime.db.update(users).set({ isInstallationAdmin: false })
  await t.runtime.db.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, userId))
  await signIn(who, [])
  expect(await rolesIn(userId)).toEqual({ [ours.tenant.name]: 'operator' })
  await t.runtime.db.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, other.viewer.actor.id!))
  await expect(signIn(who, [])).rejects.toMatchObject(FORBIDDEN)
})

test('suspends a member whose groups have no role any more, and rejects the sign-in', async () => {
  const who = person()
  const { userId } = await signIn(who, [[ours, 'admin']])
  await expect(signIn(who, [])).rejects.toMatchObject(FORBIDDEN)
  expect(await memberOf(ours, userId)).toMatchObject({ suspendedAt: expect.any(Date), suspendedByName: 'OIDC sign-in' })
})

test('suspends nobody while a group has a role in a tenant that does not exist, because it may have been renamed', async () => {
  const who = person()
  const { userId } = await signIn(who, [[ours, 'operator']])
  const input = { ...who, provider: 'oidc' as const, isEmailVerified: false, userId: null }
  await provisionUser(t.runtime, { ...input, roles: new Map([['the old name', ['operator']]]) })
  expect(await memberOf(ours, userId)).toMatchObject({ role: 'operator', suspendedAt: null })
})

test('creates no user without a role, and reports unknown tenants', async () => {
  const who = person()
  await expect(signIn(who, [])).rejects.toMatchObject(FORBIDDEN)
  expect(await t.runtime.db.$count(users, eq(users.email, who.email))).toBe(0)
  const roles = new Map([
    [ours.tenant.name, ['viewer', 'janitor', 'operator']],
    ['nowhere', ['admin']],
  ])
  const input = { ...who, provider: 'oidc' as const, isEmailVerified: false, userId: null, roles }
  expect(await provisionUser(t.runtime, input)).toMatchObject({
    unknownTenants: ['nowhere'],
    unknownRoles: [`janitor in ${ours.tenant.name}`],
  })
  expect(await memberOf(ours, (await t.runtime.db.query.users.findFirst({ where: { email: who.email } }))!.id)).toMatchObject({
    role: 'operator',
  })
  await expect(
    provisionUser(t.runtime, { ...input, ...person(), roles: new Map([[ours.tenant.name, ['janitor']]]) }),
  ).rejects.toThrow(`these roles of its groups do not exist: janitor in ${ours.tenant.name}`)
})

test('leaves members whom a person added, owners, and suspensions by a person', async () => {
  const owner = ours.owner.actor.id!
  const local = person()
  await signIn(local, [[ours, 'viewer']], { userId: owner })
  expect(await memberOf(ours, owner)).toMatchObject({ role: 'owner', provider: null, suspendedAt: null })
  await signIn(local, [])
  expect(await memberOf(ours, owner)).toMatchObject({ role: 'owner', suspendedAt: null })

  const promoted = person()
  const { userId } = await signIn(promoted, [[ours, 'viewer']])
  await changeMemberRole(ours.owner, { id: (await memberOf(ours, userId)).id, role: 'owner' })
  await signIn(promoted, [])
  expect(await memberOf(ours, userId)).toMatchObject({ role: 'owner', suspendedAt: null })

  const suspended = person()
  const { userId: suspendedId } = await signIn(suspended, [[ours, 'viewer']])
  await suspendMember(ours.owner, { id: (await memberOf(ours, suspendedId)).id })
  await expect(signIn(suspended, [[ours, 'viewer']])).rejects.toMatchObject(FORBIDDEN)
})

test('does not follow the groups of another provider, and gives no access there', async () => {
  const who = person()
  const { userId } = await signIn(who, [[ours, 'admin']])
  await expect(signIn({ ...person(), email: who.email }, [], { provider: 'ldap' })).rejects.toMatchObject(FORBIDDEN)
  const other = { provider: 'ldap', userId } as const
  expect((await signIn({ ...person(), email: who.email }, [], other)).userId).toBe(userId)
  expect(await rolesIn(userId)).toEqual({ [ours.tenant.name]: 'admin' })
})

describe('an account with the same address', () => {
  const withAccount = async (emailVerified: boolean, more: object = {}) => {
    const who = person()
    const [user] = await t.runtime.db
      .insert(users)
      .values({ name: who.name, email: who.email, emailVerified, ...more })
      .returning()
    await t.runtime.db.insert(members).values({ tenantId: ours.tenant.id, userId: user!.id, role: 'admin' })
    return { who, id: user!.id }
  }

  test.each([
    ['the provider has not verified it', true, false, {}],
    ['Muster has not verified it', false, true, {}],
    ['it is a service account', true, true, { isServiceAccount: true }],
  ])('is not taken over when %s', async (_title, ownVerified, isEmailVerified, more) => {
    const { who, id } = await withAccount(ownVerified, more)
    await expect(signIn(who, [[ours, 'viewer']], { isEmailVerified })).rejects.toMatchObject(CONFLICT)
    expect(await t.runtime.db.$count(accounts, eq(accounts.userId, id))).toBe(0)
  })

  test('is connected when both sides have verified it', async () => {
    const { who, id } = await withAccount(true)
    expect(await signIn({ ...who, email: who.email.toUpperCase() }, [])).toMatchObject({ userId: id })
    expect(await actionsOn(ours, id)).toEqual(['user.connect_identity by OIDC sign-in'])
  })

  test('is connected by its user, and then to no other', async () => {
    const { who, id } = await withAccount(false)
    expect(await signIn({ ...who, email: 'another@idp.test' }, [], { userId: id })).toMatchObject({ userId: id })
    expect(await signIn(who, [], { isEmailVerified: false })).toMatchObject({ userId: id })
    await expect(signIn(who, [], { userId: ours.viewer.actor.id! })).rejects.toMatchObject(CONFLICT)
  })
})

test('concurrent first sign-ins of one person create one user', async () => {
  const who = person()
  const results = await Promise.all(Array.from({ length: 5 }, () => signIn(who, [[ours, 'viewer']])))
  expect(new Set(results.map(({ userId }) => userId)).size).toBe(1)
})

test('only Muster itself provisions users', async () => {
  const input = { ...person(), provider: 'oidc' as const, isEmailVerified: true, userId: null, roles: new Map() }
  await expect(provisionUser(ours.owner, input)).rejects.toMatchObject(FORBIDDEN)
})

describe('roles of groups', () => {
  const parse = (value: unknown) => groupRolesSetting.safeParse(JSON.stringify(value))
  test('names the roles per tenant', () => {
    const roles = parse({ a: 'viewer', b: { Default: 'operator', Research: 'viewer' }, c: 'admin' }).data!
    expect(rolesOf(['a', 'b', 'x'], roles, 'Default')).toEqual(
      new Map([
        ['Default', ['viewer', 'operator']],
        ['Research', ['viewer']],
      ]),
    )
    expect(rolesOf([], roles, 'Default')).toEqual(new Map())
  })
  test.each([
    { a: 'owner' },
    { a: 'Owner' },
    { a: 'no role' },
    { '': 'viewer' },
    { a: { '': 'viewer' } },
    ['a'],
    { a: null },
    'a',
  ])('rejects %j', (value) => expect(parse(value).success).toBe(false))
  test('rejects what is not JSON, and has no roles by default', () => {
    expect(groupRolesSetting.safeParse('a=admin').success).toBe(false)
    expect(groupRolesSetting.parse(undefined)).toEqual([])
  })
})
