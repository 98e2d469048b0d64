import type { Actor } from '../kernel/context.ts'
import { type ApiToken, ROLES, type Role } from './tables.ts'

/** Why `actor` may not grant `role`; null when allowed. No one grants more than their own role. */
export function grantBlockedReason(actor: Actor, role: Role): string | null {
  if (actor.kind === 'system') return null
  if (actor.kind === 'worker' || actor.kind === 'agent') return 'only users can grant roles'
  return ROLES.indexOf(role) <= ROLES.indexOf(actor.role) ? null : `the role ${role} is more than your own, ${actor.role}`
}

/** Why `actor` may not revoke this token; null when allowed. Admins may revoke all tokens, others those they created. */
export function revokeBlockedReason(actor: Actor, token: Pick<ApiToken, 'name' | 'createdById' | 'revokedAt'>): string | null {
  if (token.revokedAt) return `The token ${token.name} is already revoked.`
  if (actor.kind === 'system' || actor.kind === 'worker') return null
  if (actor.kind === 'agent') return 'Agents cannot revoke tokens.'
  if (ROLES.indexOf(actor.role) >= ROLES.indexOf('admin')) return null
  const userId = actor.kind === 'user' ? actor.id : actor.userId
  return userId !== null && token.createdById === userId
    ? null
    : `The token ${token.name} belongs to another user; an admin can revoke it.`
}
