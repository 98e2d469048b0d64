import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { rolePermissions } from '../kernel/permissions.ts'
import { tenantPermissions, tokenPermissions } from './permissions.ts'
import type { ApiToken, Invitation, Role, Tenant } from './tables.ts'

/** Why `actor` may not grant `role`; null when allowed. No one grants a permission that they do not hold. */
export function grantBlockedReason(actor: Actor, role: Role): string | null {
  if (actor.kind === 'system') return null
  if (actor.kind === 'worker' || actor.kind === 'agent') return 'only users can grant roles'
  const missing = [...rolePermissions(role)].filter((name) => !actor.permissions.has(name))
  return missing.length === 0
    ? null
    : `the role ${role} is more than your own, ${actor.role}, which does not include ${missing.slice(0, 5).join(', ')}`
}

/** Why `actor` may not change this member; null when allowed. No one changes a member with more permissions than their own. */
export function memberBlockedReason(actor: Actor, member: { name: string; role: Role }): string | null {
  return grantBlockedReason(actor, member.role) === null
    ? null
    : `${member.name} is ${member.role}, which is more than your own role. An owner can change this member.`
}

/** Why a member cannot have this role; null when it can. Owners must be people, who can sign in. */
export const ownerServiceAccountReason = (
  { name, isServiceAccount }: { name: string; isServiceAccount: boolean },
  role: Role,
): string | null =>
  isServiceAccount && role === 'owner' ? `The member ${name} is a service account and cannot be an owner.` : null

/** Why a member cannot become the owner by a transfer; null when it can. */
export function transferBlockedReason(member: {
  name: string
  role: Role
  suspendedAt: Date | null
  isServiceAccount: boolean
}): string | null {
  if (member.role === 'owner') return `The member ${member.name} is already an owner.`
  if (member.suspendedAt) return `The member ${member.name} is suspended. Resume the member first.`
  return ownerServiceAccountReason(member, 'owner')
}

/** Why an invitation can no longer be revoked or accepted; null when it can. */
export function invitationBlockedReason({ email, acceptedAt, revokedAt }: Invitation): string | null {
  if (acceptedAt) return `The invitation of ${email} was already accepted.`
  return revokedAt ? `The invitation of ${email} was already revoked.` : null
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
