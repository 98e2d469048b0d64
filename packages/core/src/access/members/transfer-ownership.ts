import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { memberAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { memberPermissions } from '../permissions.ts'
import { transferBlockedReason } from '../policy.ts'
import { type Member, members } from '../tables.ts'
import { findChangeableMember, lockMembers } from './member-rows.ts'

/**
 * Makes another member the owner; the caller, an owner, becomes an admin.
 * @throws NotFound; Conflict the member is the caller, an owner, suspended or a service account
 */
export async function transferOwnership(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Member> {
  authorize(ctx, memberPermissions.transferOwnership)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await lockMembers(tx, ctx)
    const before = await findChangeableMember(tx, ctx, id)
    const blockedReason = transferBlockedReason(before)
    if (blockedReason) throw new Conflict(blockedReason)
    // An API token acts for its owner.
    const userId = ctx.actor.kind === 'user' ? ctx.actor.id : ctx.actor.kind === 'token' ? ctx.actor.userId : null
    const [former] = await tx
      .update(members)
      .set({ role: 'admin' })
      .where(and(visibleTo(ctx, members), eq(members.userId, userId!), eq(members.role, 'owner')))
      .returning()
    // The caller's role changed after the request began.
    if (!former) throw new Conflict('You are no longer an owner of the tenant. An owner can transfer ownership.')
    const [member] = await tx.update(members).set({ role: 'owner' }).where(eq(members.id, id)).returning()
    await audit(tx, ctx, memberAudit.transferOwnership, before, { from: ctx.actor.name, role: before.role })
    ctx.notify(accessChanged({ id: before.userId, tenantId: ctx.tenantId }))
    ctx.notify(accessChanged({ id: former.userId, tenantId: ctx.tenantId }))
    return member!
  })
}
