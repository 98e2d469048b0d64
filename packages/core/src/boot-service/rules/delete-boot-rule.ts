import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { NotFound, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { bootRuleAudit } from '../audit-actions.ts'
import { bootRuleChanged } from '../change-events.ts'
import { bootRulePermissions } from '../permissions.ts'
import { bootRules } from '../tables.ts'

/** Deletes a rule. The nodes that it accepted stay. @throws NotFound */
export async function deleteBootRule(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, bootRulePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [rule] = await tx
      .delete(bootRules)
      .where(and(visibleTo(ctx, bootRules), eq(bootRules.id, id)))
      .returning()
    if (!rule) throw new NotFound(`There is no boot rule ${id}.`)
    await audit(tx, ctx, bootRuleAudit.delete, rule)
    ctx.notify(bootRuleChanged(rule))
    return { id }
  })
}
