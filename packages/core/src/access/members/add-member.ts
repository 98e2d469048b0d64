import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { FOREIGN_KEY_VIOLATION, sqlState } from '../../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { memberAudit } from '../audit-actions.ts'
import { memberPermissions } from '../permissions.ts'
import { assertGrantable } from '../roles/assert-grantable.ts'
import { RoleName } from '../roles/role-fields.ts'
import { type Member, members, users } from '../tables.ts'

export const AddMemberInput = z.object({ userId: Id, role: RoleName })

/**
 * Gives a user a role in the caller's tenant.
 * @throws Forbidden a role above the caller's own; NotFound; Conflict the user is already a member
 */
export async function addMember(ctx: Ctx, input: z.input<typeof AddMemberInput>): Promise<Member> {
  authorize(ctx, memberPermissions.write)
  const { userId, role } = parseInput(AddMemberInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await assertGrantable(tx, ctx, memberPermissions.write, role)
    const [member] = await tx
      .insert(members)
      .values({ tenantId: ctx.tenantId, userId, role })
      .onConflictDoNothing()
      .returning()
      .catch((error) => {
        throw sqlState(error) === FOREIGN_KEY_VIOLATION ? new NotFound(`There is no user ${userId}.`) : error
      })
    // Row-level security shows a user only to tenants that have the user as a member.
    const [user] = await tx.select({ id: users.id, name: users.name }).from(users).where(eq(users.id, userId))
    if (!member) throw new Conflict(`${user?.name ?? 'The user'} is already a member.`)
    await audit(tx, ctx, memberAudit.add, { id: member.id, name: user!.name }, { role })
    return member
  })
}
