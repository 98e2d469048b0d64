import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { memberAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { memberPermissions } from '../permissions.ts'
import { ownerServiceAccountReason } from '../policy.ts'
import { assertGrantable } from '../roles/assert-grantable.ts'
import { RoleName } from '../roles/role-fields.ts'
import { type Member, members } from '../tables.ts'
import { assertOwnerRemains, findChangeableMember, lockMembers } from './member-rows.ts'
import { revokeInvitationsAbove } from './revoke-invitations.ts'

export const ChangeMemberRoleInput = z.object({ id: Id, role: RoleName })

/**
 * Changes the role of a member. Its sessions and tokens have the new permissions with their next use, and its open invitations for
 * roles with more are revoked.
 * @throws NotFound; Forbidden the old or the new role is above the caller's; Conflict no owner would remain
 */
export async function changeMemberRole(ctx: Ctx, input: z.input<typeof ChangeMemberRoleInput>): Promise<Member> {
  authorize(ctx, memberPermissions.write)
  const { id, role } = parseInput(ChangeMemberRoleInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await assertGrantable(tx, ctx, memberPermissions.write, role)
    await lockMembers(tx, ctx)
    const before = await findChangeableMember(tx, ctx, id)
    const unsuitable = ownerServiceAccountReason(before, role)
    if (unsuitable) throw new Conflict(unsuitable)
    const [member] = await tx.update(members).set({ role }).where(eq(members.id, id)).returning()
    await assertOwnerRemains(tx, ctx, before)
    await revokeInvitationsAbove(tx, ctx, before.userId, role)
    await audit(tx, ctx, memberAudit.changeRole, before, { from: before.role, to: role })
    ctx.notify(accessChanged({ id: before.userId, tenantId: ctx.tenantId }))
    return member!
  })
}
