import type { Ctx, Tx } from '../../kernel/context.ts'
import { Forbidden } from '../../kernel/errors.ts'
import type { Permission, Role } from '../../kernel/permissions.ts'
import { grantBlockedReason } from '../policy.ts'
import { findRole } from './role-rows.ts'

/**
 * The role with this name, if the caller may give it to somebody. Until the end of the transaction it is not deleted.
 * @param permission the one of the verb, for the message
 * @throws InvalidInput there is no such role; Forbidden it includes more than the caller holds
 */
export async function assertGrantable(tx: Tx, ctx: Ctx, permission: Permission, name: string): Promise<Role> {
  const role = await findRole(tx, ctx, name)
  const blockedReason = grantBlockedReason(ctx.actor, role)
  if (blockedReason) throw new Forbidden(`${permission.name}: ${blockedReason}`)
  return role
}
