import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, Forbidden, NotFound, parseInput } from '../../kernel/errors.ts'
import { isBuiltInRole, permissionsOfRole } from '../../kernel/permissions.ts'
import { roleAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { customRolePermissions } from '../permissions.ts'
import { grantBlockedReason, updateRoleBlockedReason } from '../policy.ts'
import { type CustomRole, roles } from '../tables.ts'
import { PermissionNames, RoleDescription, RoleName } from './role-fields.ts'
import { roleOf } from './role-rows.ts'

export const UpdateRoleInput = z.object({
  name: RoleName,
  description: RoleDescription.nullish(),
  /** Null: unchanged. */
  permissions: PermissionNames.nullish(),
})

/**
 * Changes a custom role. Its members and tokens have the new permissions with their next use.
 * @throws NotFound; Conflict the role is built in; Forbidden the old or the new permissions are more than the caller's
 */
export async function updateRole(ctx: Ctx, input: z.input<typeof UpdateRoleInput>): Promise<CustomRole> {
  authorize(ctx, customRolePermissions.write)
  const { name, description, permissions } = parseInput(UpdateRoleInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const before = await lockChangeableRole(tx, ctx, name)
    const after = { description: description ?? before.description, permissions: permissions ?? before.permissions }
    const blockedReason = grantBlockedReason(ctx.actor, { name, permissions: permissionsOfRole(name, after.permissions) })
    if (blockedReason) throw new Forbidden(`${customRolePermissions.write.name}: ${blockedReason}`)
    const [role] = await tx
      .update(roles)
      .set({ ...after, updatedAt: sql`now()` })
      .where(eq(roles.id, before.id))
      .returning()
    await audit(tx, ctx, roleAudit.update, role!, { from: before.permissions, to: after.permissions })
    ctx.notify(accessChanged({ id: before.id, tenantId: ctx.tenantId }))
    return role!
  })
}

/** Locks a custom role that the caller may change. @throws NotFound, Conflict, Forbidden */
export async function lockChangeableRole(tx: Tx, ctx: Ctx, name: string): Promise<CustomRole> {
  const [role] = await tx
    .select()
    .from(roles)
    .where(and(visibleTo(ctx, roles), eq(roles.name, name)))
    .for('update')
  if (!role && !isBuiltInRole(name)) throw new NotFound(`There is no role ${name}.`)
  const blockedReason = updateRoleBlockedReason(ctx.actor, role ? roleOf(role) : { name, permissions: new Set() })
  if (blockedReason) throw role ? new Forbidden(blockedReason) : new Conflict(blockedReason)
  return role!
}
