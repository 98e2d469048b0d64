import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { listedNames } from '../kernel/names.ts'
import { isBuiltInRole, type Role } from '../kernel/permissions.ts'
import { customRolePermissions, tenantPermissions, tokenPermissions } from './permissions.ts'
import type { ApiToken, Invitation, Tenant, User } from './tables.ts'

/** Why `actor` may not grant `role`; null when allowed. No one grants a permission that they do not hold. */
export function grantBlockedReason(actor: Actor, role: Role): string | null {
  if (actor.kind === 'system') return null
  if (actor.kind === 'worker' || actor.kind === 'agent') return 'only users can grant roles'
  const missing = missingOf(actor, role.permissions)
  return missing === null ? null : `the role ${role.name} includes permissions that your role ${actor.role} does not: ${missing}`
}

/** The permissions among these that the actor does not hold in the whole tenant, at most five; null when it holds all. */
function missingOf(actor: Extract<Actor, { permissions: unknown }>, permissions: Iterable<string>): string | null {
  const missing = [...permissions].filter((name) => !actor.permissions.has(name)).sort()
  return missing.length === 0 ? null : missing.slice(0, 5).join(', ')
}

/** Why `actor` may not change this role; null when allowed. No one changes a role that includes more than they hold. */
export function updateRoleBlockedReason(actor: Actor, role: Role): string | null {
  const denied = permissionDeniedReason(actor, customRolePermissions.write)
  if (denied) return denied
  if (isBuiltInRole(role.name)) return `The role ${role.name} is built in and cannot be changed. Create a custom role instead.`
  const missing = 'permissions' in actor ? missingOf(actor, role.permissions) : null
  return (
    missing && `The role ${role.name} includes permissions that you do not hold: ${missing}. Ask an owner to change the role.`
  )
}

/**
 * Why `actor` may not delete this role; null when allowed.
 * @param users names of members, invitations, tokens and grants that have the role
 */
export function deleteRoleBlockedReason(actor: Actor, role: Role, users: readonly string[]): string | null {
  const blocked = updateRoleBlockedReason(actor, role)
  if (blocked || users.length === 0) return blocked
  return `The role ${role.name} is in use by ${listedNames(users)}. Give them another role first.`
}

/**
 * Why `actor` may not create a token with these permissions; null when allowed.
 * @param isOwn the token acts for the actor's own user: it may then carry what the actor holds through grants, which restrict it too
 */
export function exceedsBlockedReason(actor: Actor, role: Role, isOwn: boolean): string | null {
  if (!isOwn || !('grants' in actor)) return grantBlockedReason(actor, role)
  const granted = new Set(actor.grants.flatMap(({ permissions }) => [...permissions]))
  return grantBlockedReason(actor, { ...role, permissions: new Set([...role.permissions].filter((name) => !granted.has(name))) })
}

/** Why `actor` may not change this member; null when allowed. No one changes a member with more permissions than their own. */
export function memberBlockedReason(actor: Actor, member: { name: string; role: Role }): string | null {
  return grantBlockedReason(actor, member.role) === null
    ? null
    : `${member.name} has the role ${member.role.name}, which includes permissions that you do not hold. Ask an owner to change this member.`
}

/** Why a member cannot have this role; null when it can. A service account cannot be an owner, because it cannot sign in. */
export const ownerServiceAccountReason = (
  { name, isServiceAccount }: { name: string; isServiceAccount: boolean },
  role: string,
): string | null =>
  isServiceAccount && role === 'owner' ? `The member ${name} is a service account and cannot be an owner.` : null

/** Why a member cannot become the owner by a transfer; null when it can. */
export function transferBlockedReason(member: {
  name: string
  role: string
  suspendedAt: Date | null
  isServiceAccount: boolean
}): string | null {
  if (member.role === 'owner') return `The member ${member.name} is already an owner.`
  if (member.suspendedAt) return `The member ${member.name} is suspended. Resume the member first.`
  return ownerServiceAccountReason(member, 'owner')
}

/** Why an invitation can no longer be revoked or accepted; null when it can. */
export function invitationBlockedReason({ email, acceptedAt, revokedAt }: Invitation): string | null {
  if (acceptedAt) return `The invitation for ${email} was already accepted.`
  return revokedAt ? `The invitation for ${email} was already revoked.` : null
}

/** Why `actor` may not revoke this token; null when allowed. Admins may revoke all tokens, others their own. */
export function revokeBlockedReason(actor: Actor, token: Pick<ApiToken, 'name' | 'ownerId' | 'revokedAt'>): string | null {
  if (token.revokedAt) return `The token ${token.name} is already revoked.`
  if (actor.kind === 'system' || actor.kind === 'worker') return null
  if (actor.kind === 'agent') return 'Agents cannot revoke tokens.'
  if (permissionDeniedReason(actor, tokenPermissions.revokeAny) === null) return null
  const userId = actor.kind === 'user' ? actor.id : actor.userId
  return userId !== null && token.ownerId === userId
    ? null
    : `The token ${token.name} belongs to another user; an admin can revoke it.`
}

/** Why `actor`, who works in the tenant `tenantId`, may not suspend this tenant; null when allowed. */
export function suspendTenantBlockedReason(
  actor: Actor,
  { id, name, suspendedAt }: Pick<Tenant, 'id' | 'name' | 'suspendedAt'>,
  tenantId: string,
): string | null {
  const denied = permissionDeniedReason(actor, tenantPermissions.manage)
  if (denied) return denied
  if (suspendedAt) return `The tenant ${name} is already suspended.`
  return id === tenantId ? `You work in the tenant ${name}. Switch to another tenant to suspend it.` : null
}

/** Why `actor` may not delete this tenant; null when allowed. */
export function deleteTenantBlockedReason(
  actor: Actor,
  { name, suspendedAt, deletedAt }: Pick<Tenant, 'name' | 'suspendedAt' | 'deletedAt'>,
): string | null {
  const denied = permissionDeniedReason(actor, tenantPermissions.delete)
  if (denied) return denied
  if (deletedAt) return `The tenant ${name} is being deleted.`
  return suspendedAt ? null : `The tenant ${name} is active. Suspend it first.`
}

/**
 * Why a user cannot choose the email address together with the password; null when allowed. Only the first owner can, who signs in with
 * the link that the server printed. An address of somebody else would otherwise attract their invitations.
 */
export const chooseEmailBlockedReason = (
  { isInstallationAdmin }: Pick<User, 'isInstallationAdmin'>,
  hasSignInMethod: boolean,
): string | null =>
  isInstallationAdmin && !hasSignInMethod ? null : 'is changed with requestEmailChange, which sends a link to the new address'
