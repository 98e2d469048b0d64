import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { actorColumns, authorize, type Ctx, createdBy } from '../../kernel/context.ts'
import { nameTaken, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { bootRuleAudit } from '../audit-actions.ts'
import { bootRuleChanged } from '../change-events.ts'
import { bootRulePermissions } from '../permissions.ts'
import { type BootRule, bootRules } from '../tables.ts'
import { assertReferences, BOOT_RULE_FIELDS, BootRuleNames, MaxAccepted, matchAfter } from './fields.ts'

const MAX_RULES = 200

export const CreateBootRuleInput = z.object({
  name: singleLineText(64),
  ...BOOT_RULE_FIELDS,
  names: BootRuleNames,
  /** Maximum number of machines that the rule accepts. */
  maxAccepted: MaxAccepted.default(100),
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a rule. Workers accept the machines that match it within seconds, including those that already wait.
 * @throws InvalidInput; Conflict the name is taken, or there are too many rules
 */
export async function createBootRule(ctx: Ctx, input: z.input<typeof CreateBootRuleInput>): Promise<BootRule> {
  authorize(ctx, bootRulePermissions.write)
  const { idempotencyKey, ...given } = parseInput(CreateBootRuleInput, input)
  const { macPrefixes, interfaceMacPrefixes, serials, systemUuids, arch, ...columns } = given
  const match = matchAfter(null, { macPrefixes, interfaceMacPrefixes, serials, systemUuids, arch })
  const request = { verb: 'createBootRule', key: idempotencyKey, input: given, result: oneRow(bootRules) }
  return idempotent(ctx, request, async (tx, ctx) => {
    await assertReferences(tx, ctx, given)
    if ((await tx.$count(bootRules, visibleTo(ctx, bootRules))) >= MAX_RULES)
      throw new Conflict(`There are ${MAX_RULES} boot rules, the limit. Delete some first.`)
    const [rule] = await tx
      .insert(bootRules)
      .values({ ...columns, match, tenantId: ctx.tenantId, ...createdBy(ctx), ...actorColumns(ctx, 'updated') })
      .onConflictDoNothing()
      .returning()
    if (!rule) throw nameTaken('boot rule', given.name)
    await audit(tx, ctx, bootRuleAudit.create, rule)
    ctx.notify(bootRuleChanged(rule))
    return rule
  })
}
