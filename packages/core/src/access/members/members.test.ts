import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/index.ts'
import { actorRole } from '../../kernel/permissions.ts'
import type { Ctx } from '../../registry.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { race } from '../../testing/race.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { dismissInstallationAdmin } from '../dismiss-installation-admin.ts'
import { findMemberships } from '../queries.ts'
import { accounts, invitations, members, users } from '../tables.ts'
import { suspendTenant } from '../tenants/suspend-tenant.ts'
import { acceptInvitation } from './accept-invitation.ts'
import { addMember } from './add-member.ts'
import { changeMemberRole } from './change-member-role.ts'
import { createServiceAccount } from './create-service-account.ts'
import { inviteMember } from './invite-member.ts'
import { findInvitationByToken } from './open-invitation.ts'
import { removeMember } from './remove-member.ts'
import { resumeMember } from './resume-member.ts'
import { revokeInvitation } from './revoke-invitation.ts'
import { suspendMember } from './suspend-member.ts'
import { transferOwnership } from './transfer-ownership.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
})
afterAll(() => t.close())

const FORBIDDEN = { code: 'FORBIDDEN' }
const NOT_FOUND = { code: 'NOT_FOUND' }
const CONFLICT = { code: 'CONFLICT' }
const NEW_USER = { name: 'New', passwordHash: 'hash' }

const aUser = async (email: string) => (await t.runtime.db.insert(users).values({ name: email, email }).returning())[0]!
const memberOf = async ({ actor, tenantId }: Ctx) =>
  (await t.runtime.db.query.members.findFirst({ where: { tenantId, userId: actor.id! } }))!
const activeOwners = (tenantId: string) =>
  t.runtime.db.$count(
    members,
    and(eq(members.tenantId, tenantId), eq(members.role, 'owner'), sql`${members.suspendedAt} is null`),
  )
const auditOf = async (objectId: string) =>
  (await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, objectId)).orderBy(auditEntries.id)).map(
    ({ action }) => action,
  )
const accept = (token: string, userId: string | null = null, newUser: typeof NEW_USER | null = NEW_USER) =>
  acceptInvitation(t.runtime, { token, userId, newUser })

describe('addMember', () => {
  test('adds a member once, with at most the role of the caller', async () => {
    const user = await aUser('one@x.test')
    await expect(addMember(ours.admin, { userId: user.id, role: 'owner' })).rejects.toMatchObject(FORBIDDEN)
    expect(await addMember(ours.admin, { userId: user.id, role: 'operator' })).toMatchObject({ role: 'operator' })
    await expect(addMember(ours.admin, { userId: user.id, role: 'viewer' })).rejects.toMatchObject(CONFLICT)
    expect(await findMemberships(t.runtime.db, user.id)).toEqual([
      { tenantId: ours.tenant.id, authority: actorRole('operator'), tenantName: ours.tenant.name, stepUpMinutes: null },
    ])
  })
})

describe('findMemberships', () => {
  test('returns active memberships, the first joined first', async () => {
    const user = await aUser('two@x.test')
    expect(await findMemberships(t.runtime.db, user.id)).toEqual([])
    await t.runtime.db.insert(members).values([
      { tenantId: theirs.tenant.id, userId: user.id, role: 'viewer', createdAt: new Date('2026-01-02') },
      { tenantId: ours.tenant.id, userId: user.id, role: 'admin', createdAt: new Date('2026-01-01') },
    ])
    const tenants = async () => (await findMemberships(t.runtime.db, user.id)).map(({ tenantId }) => tenantId)
    expect(await tenants()).toEqual([ours.tenant.id, theirs.tenant.id])
    const member = await t.runtime.db.query.members.findFirst({ where: { tenantId: ours.tenant.id, userId: user.id } })
    await suspendMember(ours.owner, { id: member!.id })
    expect(await tenants()).toEqual([theirs.tenant.id])
  })
})

describe('invitations', () => {
  test('create a user with the invited role, once', async () => {
    const { token, invitation } = await inviteMember(ours.admin, { email: ' New@Site.test ', role: 'operator' })
    expect(token).toMatch(/^msi_[A-Za-z0-9_-]{43}$/)
    expect(invitation).toMatchObject({ email: 'new@site.test', createdById: ours.admin.actor.id })
    expect(JSON.stringify(invitation)).not.toContain(token.slice(4))
    expect(await findInvitationByToken(t.runtime.db, token)).toMatchObject({
      email: 'new@site.test',
      role: 'operator',
      tenantName: ours.tenant.name,
      hasAccount: false,
    })
    const { won, lost } = await race(accept(token), accept(token))
    expect([won.length, lost.map(({ name }) => name)]).toEqual([1, ['NotFound']])
    const { member } = won[0]!
    expect(member).toMatchObject({ tenantId: ours.tenant.id, role: 'operator' })
    const [account] = await t.runtime.db.select().from(accounts).where(eq(accounts.userId, member.userId))
    expect(account).toMatchObject({ providerId: 'credential', accountId: member.userId, password: 'hash' })
    expect(await findInvitationByToken(t.runtime.db, token)).toBeNull()
    expect(await auditOf(invitation.id)).toEqual(['invitation.create', 'invitation.accept'])
    expect(await auditOf(member.id)).toEqual(['member.add'])
  })

  test('require an existing user to sign in', async () => {
    const { token } = await inviteMember(ours.admin, { email: `admin@${theirs.tenant.name}.test`, role: 'viewer' })
    expect(await findInvitationByToken(t.runtime.db, token)).toMatchObject({ hasAccount: true })
    await expect(accept(token)).rejects.toThrow(/There is an account .* Sign in/)
    await expect(accept(token, theirs.owner.actor.id, null)).rejects.toMatchObject(FORBIDDEN)
    expect(await t.runtime.db.select().from(accounts).where(eq(accounts.userId, theirs.admin.actor.id!))).toEqual([])
    const { member } = await accept(token, theirs.admin.actor.id, null)
    expect(member).toMatchObject({ userId: theirs.admin.actor.id, tenantId: ours.tenant.id })
    expect(await findMemberships(t.runtime.db, member.userId)).toHaveLength(2)
  })

  test('are valid only for their email address', async () => {
    const { token } = await inviteMember(ours.admin, { email: 'somebody@site.test', role: 'viewer' })
    await expect(accept(token, theirs.admin.actor.id, null)).rejects.toThrow('The invitation is for somebody@site.test.')
    await expect(accept(token, null, null)).rejects.toThrow(/Choose a name and a password/)
    expect((await accept(token)).email).toBe('somebody@site.test')
  })

  test('expire, can be revoked, and are replaced by a new one', async () => {
    const invite = () => inviteMember(ours.admin, { email: 'again@site.test', role: 'viewer' })
    const [first, second] = [await invite(), await invite()]
    await expect(accept(first.token)).rejects.toMatchObject(NOT_FOUND)
    await expect(revokeInvitation(ours.operator, { id: second.invitation.id })).rejects.toMatchObject(FORBIDDEN)
    await expect(revokeInvitation(theirs.owner, { id: second.invitation.id })).rejects.toMatchObject(NOT_FOUND)
    const revoke = () => revokeInvitation(ours.owner, { id: second.invitation.id })
    const { won, lost } = await race(revoke(), revoke())
    expect([won.length, lost.map(({ name }) => name)]).toEqual([1, ['Conflict']])
    await expect(accept(second.token)).rejects.toMatchObject(NOT_FOUND)
    const third = await invite()
    await t.runtime.db
      .update(invitations)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(eq(invitations.id, third.invitation.id))
    await expect(accept(third.token)).rejects.toMatchObject(NOT_FOUND)
    for (const token of ['', 'msi_', `msi_${'a'.repeat(43)}`]) await expect(accept(token)).rejects.toMatchObject(NOT_FOUND)
  })

  test('are rejected for members, for roles above the caller’s, and for invalid addresses', async () => {
    const invite = (ctx: Ctx, email: string, role: string) => inviteMember(ctx, { email, role })
    await expect(invite(ours.operator, 'a@x.test', 'viewer')).rejects.toMatchObject(FORBIDDEN)
    await expect(invite(ours.admin, 'a@x.test', 'owner')).rejects.toMatchObject(FORBIDDEN)
    await expect(invite(ours.admin, `viewer@${ours.tenant.name}.test`, 'viewer')).rejects.toMatchObject(CONFLICT)
    await expect(invite(ours.admin, 'no address', 'viewer')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('changing members', () => {
  test('changes, suspends, resumes and removes', async () => {
    const { id, userId } = await memberOf(ours.operator)
    expect(await changeMemberRole(ours.admin, { id, role: 'viewer' })).toMatchObject({ role: 'viewer' })
    expect(await suspendMember(ours.admin, { id })).toMatchObject({ suspendedById: ours.admin.actor.id })
    await expect(suspendMember(ours.admin, { id })).rejects.toMatchObject(CONFLICT)
    expect(await findMemberships(t.runtime.db, userId)).toEqual([])
    expect(await resumeMember(ours.admin, { id })).toMatchObject({ suspendedAt: null, suspendedByName: null })
    await expect(resumeMember(ours.admin, { id })).rejects.toMatchObject(CONFLICT)
    expect(await removeMember(ours.admin, { id })).toEqual({ id })
    await expect(removeMember(ours.admin, { id })).rejects.toMatchObject(NOT_FOUND)
    expect(await auditOf(id)).toEqual(['member.change_role', 'member.suspend', 'member.resume', 'member.remove'])
    expect(t.changeEvents.filter((event) => event.id === userId)).toHaveLength(4)
  })

  const VERBS: [string, (ctx: Ctx, id: string) => Promise<unknown>][] = [
    ['changeMemberRole', (ctx, id) => changeMemberRole(ctx, { id, role: 'viewer' })],
    ['suspendMember', (ctx, id) => suspendMember(ctx, { id })],
    ['removeMember', (ctx, id) => removeMember(ctx, { id })],
  ]

  test.each(VERBS)('%s is rejected for the wrong role and the wrong tenant', async (_, verb) => {
    const [member, owner] = [await memberOf(ours.viewer), await memberOf(ours.owner)]
    await expect(verb(ours.operator, member.id)).rejects.toMatchObject(FORBIDDEN)
    await expect(verb(ours.admin, owner.id)).rejects.toMatchObject(FORBIDDEN)
    await expect(verb(theirs.owner, member.id)).rejects.toMatchObject(NOT_FOUND)
  })

  test.each(VERBS)('%s leaves the last owner', async (_, verb) => {
    const owner = await memberOf(ours.owner)
    await expect(verb(ours.owner, owner.id)).rejects.toThrow(/last active owner/)
    expect(await activeOwners(ours.tenant.id)).toBe(1)
  })

  test.each(VERBS.flatMap((one) => VERBS.map((other) => [`${one[0]} and ${other[0]}`, one[1], other[1]] as const)))(
    '%s at the same time leave one of two owners',
    async (_, one, other) => {
      const [first, second] = [await memberOf(ours.owner), await memberOf(ours.admin)]
      await changeMemberRole(ours.owner, { id: second.id, role: 'owner' })
      const secondOwner: Ctx = { ...ours.admin, actor: { ...ours.owner.actor, id: second.userId } as Ctx['actor'] }
      const { won, lost } = await race(one(ours.owner, first.id), other(secondOwner, second.id))
      expect([won.length, lost.map(({ name }) => name)]).toEqual([1, ['Conflict']])
      expect(await activeOwners(ours.tenant.id)).toBe(1)
    },
  )
})

describe('open invitations of a member', () => {
  const invite = async (by: Ctx, email: string, role: string) => (await inviteMember(by, { email, role })).invitation.id
  const isRevoked = async (id: string) => (await t.runtime.db.query.invitations.findFirst({ where: { id } }))!.revokedAt !== null

  test.each([
    ['removed', removeMember],
    ['suspended', suspendMember],
  ] as const)('are revoked when the member is %s', async (_, end) => {
    const [own, others] = [
      await invite(ours.admin, 'private@x.test', 'admin'),
      await invite(ours.owner, 'colleague@x.test', 'admin'),
    ]
    await end(ours.owner, { id: (await memberOf(ours.admin)).id })
    expect([await isRevoked(own), await isRevoked(others)]).toEqual([true, false])
    expect((await auditOf(own)).sort()).toEqual(['invitation.create', 'invitation.revoke'])
  })

  test('for more than the new role are revoked', async () => {
    const [more, same] = [await invite(ours.admin, 'a@x.test', 'admin'), await invite(ours.admin, 'o@x.test', 'operator')]
    await changeMemberRole(ours.owner, { id: (await memberOf(ours.admin)).id, role: 'operator' })
    expect([await isRevoked(more), await isRevoked(same)]).toEqual([true, false])
  })
})

describe('the last installation administrator with access', () => {
  const LAST = { code: 'CONFLICT', message: expect.stringContaining('only installation administrator') }
  let id: string
  beforeEach(async () => {
    await t.runtime.db.update(users).set({ isInstallationAdmin: false })
    const member = await memberOf(ours.viewer)
    id = member.id
    await t.runtime.db.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, member.userId))
  })
  const alsoAdmin = async (fixture: TenantFixture) =>
    t.runtime.db.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, fixture.viewer.actor.id!))

  test.each([
    ['removed', removeMember],
    ['suspended', suspendMember],
  ] as const)('is not %s', async (_, end) => {
    await expect(end(ours.owner, { id })).rejects.toMatchObject(LAST)
    await alsoAdmin(theirs)
    await t.runtime.db.update(members).set({ suspendedAt: sql`now()` }).where(eq(members.userId, theirs.viewer.actor.id!))
    await expect(end(ours.owner, { id })).rejects.toMatchObject(LAST)
    await t.runtime.db.update(members).set({ suspendedAt: null }).where(eq(members.userId, theirs.viewer.actor.id!))
    await end(ours.owner, { id })
  })

  test('is not dismissed while the others are suspended, and keeps one of two concurrent suspensions', async () => {
    await alsoAdmin(theirs)
    const [other] = await t.runtime.db
      .update(members)
      .set({ suspendedAt: sql`now()` })
      .where(eq(members.userId, theirs.viewer.actor.id!))
      .returning()
    const dismiss = () => dismissInstallationAdmin(ours.installationAdmin, { userId: ours.viewer.actor.id! })
    await expect(dismiss()).rejects.toMatchObject(LAST)
    await t.runtime.db.update(members).set({ suspendedAt: null }).where(eq(members.id, other!.id))
    const { won, lost } = await race(suspendMember(ours.owner, { id }), suspendMember(theirs.owner, { id: other!.id }))
    expect([won.length, lost]).toEqual([1, [expect.objectContaining(LAST)]])
  })

  test('keeps its tenant active', async () => {
    await expect(suspendTenant(theirs.installationAdmin, { id: ours.tenant.id })).rejects.toMatchObject({
      message: expect.stringContaining('No installation administrator is an active member of another tenant'),
    })
    await alsoAdmin(theirs)
    expect(await suspendTenant(theirs.installationAdmin, { id: ours.tenant.id })).toMatchObject({ id: ours.tenant.id })
  })
})

describe('transferOwnership', () => {
  test('makes the member the owner and the caller an admin', async () => {
    const { id } = await memberOf(ours.viewer)
    expect(await transferOwnership(ours.owner, { id })).toMatchObject({ role: 'owner' })
    expect(await memberOf(ours.owner)).toMatchObject({ role: 'admin' })
    // The former owner's request is still under way with the old role.
    await expect(transferOwnership(ours.owner, { id: (await memberOf(ours.operator)).id })).rejects.toMatchObject(CONFLICT)
  })

  test('is rejected for admins, other tenants, owners, suspended members and service accounts', async () => {
    const [member, owner] = [await memberOf(ours.viewer), await memberOf(ours.owner)]
    await expect(transferOwnership(ours.admin, { id: member.id })).rejects.toMatchObject(FORBIDDEN)
    await expect(transferOwnership(theirs.owner, { id: member.id })).rejects.toMatchObject(NOT_FOUND)
    await expect(transferOwnership(ours.owner, { id: owner.id })).rejects.toMatchObject(CONFLICT)
    await suspendMember(ours.owner, { id: member.id })
    await expect(transferOwnership(ours.owner, { id: member.id })).rejects.toThrow(/is suspended/)
    const account = await createServiceAccount(ours.owner, { name: 'ci', role: 'admin' })
    await expect(transferOwnership(ours.owner, { id: account.id })).rejects.toThrow(/service account/)
  })

  test('one of two concurrent transfers fails', async () => {
    const [a, b] = [await memberOf(ours.viewer), await memberOf(ours.operator)]
    const { won, lost } = await race(transferOwnership(ours.owner, { id: a.id }), transferOwnership(ours.owner, { id: b.id }))
    expect([won.length, lost.map(({ name }) => name)]).toEqual([1, ['Conflict']])
    expect(await activeOwners(ours.tenant.id)).toBe(1)
  })
})

describe('service accounts', () => {
  test('are members that cannot own the tenant, and are deleted when removed', async () => {
    const account = await createServiceAccount(ours.admin, { name: 'ci', role: 'operator' })
    await expect(createServiceAccount(ours.owner, { name: 'boss', role: 'owner' })).rejects.toMatchObject(CONFLICT)
    await expect(changeMemberRole(ours.owner, { id: account.id, role: 'owner' })).rejects.toMatchObject(CONFLICT)
    await expect(createServiceAccount(ours.operator, { name: 'x', role: 'viewer' })).rejects.toMatchObject(FORBIDDEN)
    await expect(removeMember(theirs.owner, { id: account.id })).rejects.toMatchObject(NOT_FOUND)
    await removeMember(ours.admin, { id: account.id })
    expect(await t.runtime.db.select().from(users).where(eq(users.id, account.userId))).toEqual([])
  })
})
