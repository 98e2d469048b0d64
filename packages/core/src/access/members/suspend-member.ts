import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { memberAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { memberPermissions } from '../permissions.ts'
import { type Member, members } from '../tables.ts'
import { assertAdminRemains, assertOwnerRemains, findChangeableMember, lockMembers } from './member-rows.ts'
import { revokeInvitationsOf } from './revoke-invitations.ts'

/**
 * Suspends a member: its sessions and tokens have no access to the tenant until `resumeMember`. Its open invitations are revoked.
 * @throws NotFound; Forbidden its role is above the caller's; Conflict it is already suspended, or no owner or no installation
 * administrator would remain
 */
export async function suspendMember(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Member> {
  authorize(ctx, memberPermissions.write)
  const { id } = parseInput(IdInput, input)
  // Only the system role sees the other memberships of installation administrators.
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    await lockMembers(tx, ctx)
    const before = await findChangeableMember(tx, ctx, id)
    await assertAdminRemains(tx, before)
    const [member] = await tx
      .update(members)
      .set({ suspendedAt: sql`now()`, ...actorColumns(ctx, 'suspended') })
      .where(and(eq(members.id, id), isNull(members.suspendedAt)))
      .returning()
    if (!member) throw new Conflict(`${before.name} is already suspended. Resume or remove the member.`)
    await assertOwnerRemains(tx, ctx, before)
    await revokeInvitationsOf(tx, ctx, before.userId)
    await audit(tx, ctx, memberAudit.suspend, before)
    ctx.notify(accessChanged({ id: before.userId, tenantId: ctx.tenantId }))
    return member
  })
}
