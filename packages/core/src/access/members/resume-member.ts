import { and, eq, isNotNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { memberAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { memberPermissions } from '../permissions.ts'
import { type Member, members } from '../tables.ts'
import { findChangeableMember, lockMembers } from './member-rows.ts'

/**
 * Gives a suspended member access again, with its role and its tokens.
 * @throws NotFound; Forbidden its role is above the caller's; Conflict it is not suspended
 */
export async function resumeMember(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Member> {
  authorize(ctx, memberPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await lockMembers(tx, ctx)
    const before = await findChangeableMember(tx, ctx, id)
    const [member] = await tx
      .update(members)
      .set({ suspendedAt: null, suspendedById: null, suspendedByName: null })
      .where(and(eq(members.id, id), isNotNull(members.suspendedAt)))
      .returning()
    if (!member) throw new Conflict(`${before.name} is not suspended and can sign in.`)
    await audit(tx, ctx, memberAudit.resume, before)
    ctx.notify(accessChanged({ id: before.userId, tenantId: ctx.tenantId }))
    return member
  })
}
