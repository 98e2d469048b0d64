import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { roleAudit } from '../audit-actions.ts'
import { customRolePermissions } from '../permissions.ts'
import { deleteRoleBlockedReason } from '../policy.ts'
import { roles } from '../tables.ts'
import { RoleName } from './role-fields.ts'
import { roleOf, rolesInUse } from './role-rows.ts'
import { lockChangeableRole } from './update-role.ts'

export const DeleteRoleInput = z.object({ name: RoleName })

/**
 * Deletes an unused custom role.
 * @throws NotFound; Conflict the role is built in or in use; Forbidden it includes more than the caller holds
 */
export async function deleteRole(ctx: Ctx, input: z.input<typeof DeleteRoleInput>): Promise<{ name: string }> {
  authorize(ctx, customRolePermissions.write)
  const { name } = parseInput(DeleteRoleInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    // A transaction that grants the role holds a share lock on its row until it ends.
    const role = await lockChangeableRole(tx, ctx, name)
    const users = (await rolesInUse(tx, ctx, [name])).get(name)!
    const blockedReason = deleteRoleBlockedReason(ctx.actor, roleOf(role), users)
    if (blockedReason) throw new Conflict(blockedReason)
    await tx.delete(roles).where(eq(roles.id, role.id))
    await audit(tx, ctx, roleAudit.delete, role, { permissions: role.permissions })
    return { name }
  })
}
