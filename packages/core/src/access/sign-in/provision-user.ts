import { and, eq, inArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction, type SystemCtx, type Tx } from '../../kernel/context.ts'
import { Conflict, Forbidden, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { memberAudit, userAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { installationAdminRemains } from '../installation-admin-remains.ts'
import { EmailAddress } from '../members/invite-member.ts'
import { lockMembers } from '../members/member-rows.ts'
import { revokeInvitationsAbove, revokeInvitationsOf } from '../members/revoke-invitations.ts'
import { memberPermissions } from '../permissions.ts'
import { findMemberships } from '../queries.ts'
import { RoleName } from '../roles/role-fields.ts'
import { findRoles } from '../roles/role-rows.ts'
import { accounts, IDENTITY_PROVIDERS, type Member, members, tenants, users } from '../tables.ts'

export const ProvisionUserInput = z.object({
  provider: z.enum(IDENTITY_PROVIDERS),
  /** Identifies the person at the provider permanently; addresses and names may change. */
  subject: z.string().min(1).max(1000),
  /** Null when the provider sends none, or an invalid one. */
  email: EmailAddress.nullable().catch(null),
  /** Whether the provider has verified that the address is the person's. */
  isEmailVerified: z.boolean(),
  name: z.string().trim().max(100),
  /** Names of roles by tenant name, see `rolesOf`. */
  roles: z.map(z.string(), z.array(RoleName)),
  /** The signed-in user who connects the identity; null for a sign-in. */
  userId: Id.nullable(),
})
type Input = z.output<typeof ProvisionUserInput>

/**
 * Finds or creates the user of a person whom an identity provider has authenticated, and applies the roles of the user's groups.
 * Changes only memberships that a sign-in created: owners and members whom a person added or invited keep their roles. A membership
 * without a group is suspended, unless a group has a role in a tenant that does not exist: it may have been renamed. An existing account is used only when the identity is connected to it, or when both sides have
 * verified the email address.
 * @throws Conflict the address belongs to an account that is not connected; Forbidden no tenant gives access
 */
export async function provisionUser(
  caller: SystemCtx,
  input: z.input<typeof ProvisionUserInput>,
): Promise<{ userId: string; unknownTenants: string[]; unknownRoles: string[] }> {
  authorize(caller, memberPermissions.provision)
  const identity = parseInput(ProvisionUserInput, input)
  const { provider, subject } = identity
  const result = await inTransaction(caller, async (tx, caller) => {
    // Concurrent first sign-ins of one person create one user.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`identity ${provider} ${subject}`}, 0))`)
    const found = await tx
      .select()
      .from(tenants)
      .where(inArray(tenants.name, [...identity.roles.keys()]))
    const roles = new Map<string, string>()
    const unknownRoles: string[] = []
    for (const { id, name } of found) {
      const { strongest, unknown } = await chooseRole(tx, id, identity.roles.get(name)!)
      if (strongest) roles.set(id, strongest)
      unknownRoles.push(...unknown.map((role) => `${role} in ${name}`))
    }
    const user = (await findUser(tx, identity)) ?? (await connectOrCreate(tx, caller, identity, roles.size > 0))
    if (!user) return { userId: null, hasAccess: false, unknownTenants: [], unknownRoles }
    const names = new Set(found.map(({ name }) => name))
    const unknownTenants = [...identity.roles.keys()].filter((name) => !names.has(name))
    await applyRoles(tx, caller, user, provider, roles, unknownTenants.length > 0)
    // A user who connects an identity has a session.
    const hasAccess = (await findMemberships(tx, user.id, identity.userId ? 'any' : provider)).length > 0
    return { userId: user.id, hasAccess, unknownTenants, unknownRoles }
  })
  // After the commit: suspensions remain.
  const { userId, hasAccess, unknownRoles } = result
  if (!hasAccess || !userId)
    throw new Forbidden(
      `Your account has no access to Muster: none of its groups has a role in an active tenant${
        unknownRoles.length > 0 ? `, and these roles of its groups do not exist: ${unknownRoles.slice(0, 5).join(', ')}` : ''
      }. Ask an administrator of Muster for access.`,
    )
  return { ...result, userId }
}

/** Of the roles that exist in the tenant, the one with the most permissions; and the names of those that do not. */
async function chooseRole(tx: Tx, tenantId: string, names: string[]): Promise<{ strongest?: string; unknown: string[] }> {
  const found = [...(await findRoles(tx, { tenantId }, names)).values()]
  const known = found.filter(({ permissions }) => permissions.size > 0)
  const [strongest] = known.sort((a, b) => b.permissions.size - a.permissions.size || (a.name < b.name ? -1 : 1))
  return {
    ...(strongest ? { strongest: strongest.name } : {}),
    unknown: found.filter((role) => !known.includes(role)).map(({ name }) => name),
  }
}

type User = { id: string; name: string }

async function findUser(tx: Tx, { provider, subject, userId }: Input): Promise<User | undefined> {
  const [user] = await tx
    .select({ id: users.id, name: users.name })
    .from(accounts)
    .innerJoin(users, eq(users.id, accounts.userId))
    .where(and(eq(accounts.providerId, provider), eq(accounts.accountId, subject)))
  if (user && userId && user.id !== userId) throw new Conflict('This identity is already connected to another user of Muster.')
  return user
}

/** Null when a new user would have no access: none is created. */
async function connectOrCreate(tx: Tx, caller: SystemCtx, identity: Input, hasRole: boolean): Promise<User | null> {
  const { provider, subject, email, isEmailVerified, userId } = identity
  const connect = (user: User) =>
    tx.insert(accounts).values({ userId: user.id, providerId: provider, accountId: subject }).returning()
  const isKnown = userId ? eq(users.id, userId) : eq(users.email, email ?? '')
  const [existing] = await tx.select().from(users).where(isKnown)
  if (!existing) {
    if (!hasRole) return null
    if (!email)
      throw new Conflict('The identity provider sends no email address. Ask its administrator to release the address to Muster.')
    const fields = { name: identity.name || email, email, emailVerified: isEmailVerified }
    const [user] = await tx.insert(users).values(fields).onConflictDoNothing().returning()
    if (!user) throw new Conflict(`An account for ${email} was created at the same time. Sign in again.`)
    await connect(user)
    return user
  }
  if (!userId && !(isEmailVerified && existing.emailVerified && !existing.isServiceAccount))
    throw new Conflict(
      `There is an account for ${email} in Muster that is not connected. Sign in as before, then connect it in Settings > Account.`,
    )
  await connect(existing)
  for (const { tenantId } of await findMemberships(tx, existing.id, 'any'))
    await audit(tx, tenantCtx(caller, tenantId, provider), userAudit.connectIdentity, existing, { provider })
  return existing
}

/** The context in which memberships of a tenant are changed and audited. */
const tenantCtx = (caller: SystemCtx, tenantId: string, provider: Input['provider']): Ctx => ({
  ...caller,
  systemDb: caller.db,
  tenantId,
  actor: { kind: 'system', id: null, name: actorName(provider) },
})
const actorName = (provider: Input['provider']) => `${provider.toUpperCase()} sign-in`

async function applyRoles(
  tx: Tx,
  caller: SystemCtx,
  user: User,
  provider: Input['provider'],
  roles: Map<string, string>,
  hasUnknownTenant: boolean,
): Promise<void> {
  const own = await tx
    .select({ tenantId: members.tenantId })
    .from(members)
    .where(and(eq(members.userId, user.id), eq(members.provider, provider)))
  // In one order, because concurrent sign-ins lock the same tenants.
  const tenantIds = [...new Set([...roles.keys(), ...own.map(({ tenantId }) => tenantId)])].sort()
  for (const tenantId of tenantIds) {
    const ctx = tenantCtx(caller, tenantId, provider)
    await lockMembers(tx, ctx)
    const isOne = and(eq(members.tenantId, tenantId), eq(members.userId, user.id))
    const [member] = await tx.select().from(members).where(isOne)
    const role = roles.get(tenantId)
    if (!member && role) {
      const [added] = await tx
        .insert(members)
        .values({ tenantId, userId: user.id, role, provider })
        .onConflictDoNothing()
        .returning()
      // Nothing: a person added the user at the same time.
      if (added) await audit(tx, ctx, memberAudit.add, { id: added.id, name: user.name }, { role, provider })
    } else if (member?.provider === provider && member.role !== 'owner' && (role || !hasUnknownTenant))
      await applyRole(tx, ctx, { ...member, name: user.name }, role)
    else continue
    caller.notify(accessChanged({ id: user.id, tenantId }))
  }
}

/** Gives a member the role of its groups, or suspends it. A suspension by a person stays. */
async function applyRole(tx: Tx, ctx: Ctx, member: Member & { name: string }, role: string | undefined): Promise<void> {
  const isOne = eq(members.id, member.id)
  if (!role) {
    // As an owner, the last administrator keeps access: otherwise nobody could give it back.
    if (member.suspendedAt || !(await installationAdminRemains(tx, isOne))) return
    await tx.update(members).set({ suspendedAt: sql`now()`, suspendedById: null, suspendedByName: ctx.actor.name }).where(isOne)
    await revokeInvitationsOf(tx, ctx, member.userId)
    return audit(tx, ctx, memberAudit.suspend, member, { reason: 'no group has a role' })
  }
  if (member.role !== role) {
    await tx.update(members).set({ role }).where(isOne)
    await revokeInvitationsAbove(tx, ctx, member.userId, role)
    await audit(tx, ctx, memberAudit.changeRole, member, { from: member.role, to: role })
  }
  if (!member.suspendedAt || member.suspendedById || member.suspendedByName !== ctx.actor.name) return
  await tx.update(members).set({ suspendedAt: null, suspendedByName: null }).where(isOne)
  await audit(tx, ctx, memberAudit.resume, member)
}
