import type { Ctx, Tx } from '../../kernel/context.ts'
import { Forbidden } from '../../kernel/errors.ts'
import type { Permission, Role } from '../../kernel/permissions.ts'
import { grantBlockedReason } from '../policy.ts'
import { findRole } from './role-rows.ts'

/**
 * Returns the role with this name if the caller may grant it, and locks it against deletion until the end of the transaction.
 * @param permission the permission of the verb, for the message
 * @throws InvalidInput there is no such role; Forbidden it has permissions that the caller does not hold
 */
export async function assertGrantable(tx: Tx, ctx: Ctx, permission: Permission, name: string): Promise<Role> {
  const role = await findRole(tx, ctx, name)
  const blockedReason = grantBlockedReason(ctx.actor, role)
  if (blockedReason) throw new Forbidden(`${permission.name}: ${blockedReason}`)
  return role
}
