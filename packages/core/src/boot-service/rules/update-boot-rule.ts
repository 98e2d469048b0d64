import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { bootRuleAudit } from '../audit-actions.ts'
import { bootRuleChanged } from '../change-events.ts'
import { bootRulePermissions } from '../permissions.ts'
import { type BootRule, bootRules } from '../tables.ts'
import { assertReferences, BOOT_RULE_FIELDS, BootRuleNames, MaxAccepted, matchAfter } from './fields.ts'

export const UpdateBootRuleInput = z.object({
  id: Id,
  ...BOOT_RULE_FIELDS,
  names: BootRuleNames.optional(),
  maxAccepted: MaxAccepted.optional(),
})

/** Changes a rule. Fields that are not given keep their values. @throws NotFound; InvalidInput */
export async function updateBootRule(ctx: Ctx, input: z.input<typeof UpdateBootRuleInput>): Promise<BootRule> {
  authorize(ctx, bootRulePermissions.write)
  const { id, macPrefixes, interfaceMacPrefixes, serials, systemUuids, arch, ...columns } = parseInput(UpdateBootRuleInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const isRule = and(visibleTo(ctx, bootRules), eq(bootRules.id, id))
    const [before] = await tx.select().from(bootRules).where(isRule).for('no key update')
    if (!before) throw new NotFound(`There is no boot rule ${id}.`)
    await assertReferences(tx, ctx, columns)
    const match = matchAfter(before.match, { macPrefixes, interfaceMacPrefixes, serials, systemUuids, arch })
    const [rule] = await tx
      .update(bootRules)
      .set({ ...columns, match, problem: null, ...actorColumns(ctx, 'updated') })
      .where(isRule)
      .returning()
    await audit(tx, ctx, bootRuleAudit.update, rule!)
    ctx.notify(bootRuleChanged(rule!))
    return rule!
  })
}
