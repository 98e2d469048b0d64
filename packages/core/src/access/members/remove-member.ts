import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { memberAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { memberPermissions } from '../permissions.ts'
import { members, users } from '../tables.ts'
import { revokeTokensOf } from '../tokens/revoke-tokens.ts'
import { assertAdminRemains, assertOwnerRemains, findChangeableMember, lockMembers } from './member-rows.ts'
import { revokeInvitationsOf } from './revoke-invitations.ts'

/**
 * Removes a member from the tenant and revokes its open invitations, its tokens and the tokens created with them. A service account is
 * deleted.
 * @throws NotFound; Forbidden its role is above the caller's; Conflict no owner or no installation administrator would remain
 */
export async function removeMember(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, memberPermissions.write)
  const { id } = parseInput(IdInput, input)
  // Only the system role deletes users.
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    await lockMembers(tx, ctx)
    const member = await findChangeableMember(tx, ctx, id)
    await assertAdminRemains(tx, member)
    await revokeTokensOf(tx, ctx, member.userId)
    await revokeInvitationsOf(tx, ctx, member.userId)
    await tx.delete(members).where(eq(members.id, id))
    await assertOwnerRemains(tx, ctx, member)
    if (member.isServiceAccount) await tx.delete(users).where(eq(users.id, member.userId))
    await audit(tx, ctx, memberAudit.remove, member, { role: member.role })
    ctx.notify(accessChanged({ id: member.userId, tenantId: ctx.tenantId }))
    return { id }
  })
}
