import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorize, type Ctx, createdBy } from '../../kernel/context.ts'
import { nameTaken, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, Forbidden, parseInput } from '../../kernel/errors.ts'
import { permissionsOfRole } from '../../kernel/permissions.ts'
import { roleAudit } from '../audit-actions.ts'
import { customRolePermissions } from '../permissions.ts'
import { grantBlockedReason } from '../policy.ts'
import { type CustomRole, roles } from '../tables.ts'
import { CustomRoleName, PermissionNames, RoleDescription } from './role-fields.ts'

const MAX_ROLES = 100

export const CreateRoleInput = z.object({
  name: CustomRoleName,
  description: RoleDescription.nullish().transform((text) => text ?? ''),
  permissions: PermissionNames,
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a custom role. Every role includes `tenant:read`.
 * @throws Forbidden a permission that the caller does not hold; Conflict the name is taken, or the tenant has 100 custom roles
 */
export async function createRole(ctx: Ctx, input: z.input<typeof CreateRoleInput>): Promise<CustomRole> {
  authorize(ctx, customRolePermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateRoleInput, input)
  const { name, permissions } = fields
  const blockedReason = grantBlockedReason(ctx.actor, { name, permissions: permissionsOfRole(name, permissions) })
  if (blockedReason) throw new Forbidden(`${customRolePermissions.write.name}: ${blockedReason}`)
  const request = { verb: 'createRole', key: idempotencyKey, input: fields, result: oneRow(roles) }
  return idempotent(ctx, request, async (tx, ctx) => {
    if ((await tx.$count(roles, visibleTo(ctx, roles))) >= MAX_ROLES)
      throw new Conflict(`The tenant already has ${MAX_ROLES} custom roles, which is the maximum. Delete an unused role first.`)
    const [role] = await tx
      .insert(roles)
      .values({ tenantId: ctx.tenantId, ...fields, ...createdBy(ctx) })
      .onConflictDoNothing()
      .returning()
    if (!role) throw nameTaken('role', name)
    await audit(tx, ctx, roleAudit.create, role, { permissions })
    return role
  })
}
