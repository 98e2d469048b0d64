import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { accessChanged, memberPermissions } from '../access/index.ts'
import { members, users } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { grantAudit } from './audit-actions.ts'
import { grants } from './tables.ts'

/** Takes a grant from its member. Runs that it started continue. @throws NotFound */
export async function deleteGrant(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, memberPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [grant] = await tx
      .delete(grants)
      .where(and(visibleTo(ctx, grants), eq(grants.id, id)))
      .returning()
    if (!grant) throw new NotFound(`There is no grant ${id}.`)
    const [member] = await tx
      .select({ userId: members.userId, name: users.name })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(eq(members.id, grant.memberId))
    await audit(tx, ctx, grantAudit.delete, { id, name: member!.name }, { role: grant.role })
    ctx.notify(accessChanged({ id: member!.userId, tenantId: ctx.tenantId }))
    return { id }
  })
}
