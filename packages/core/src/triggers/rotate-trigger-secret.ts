import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { ownedBy } from '../schedules/index.ts'
import { triggerAudit } from './audit-actions.ts'
import { triggerChanged } from './change-events.ts'
import { newTriggerSecret, type TriggerWithSecret } from './create-trigger.ts'
import { lockTrigger, templateOf } from './lock-trigger.ts'
import { triggerPermissions } from './permissions.ts'
import { triggers } from './tables.ts'
import { assertTriggerTarget } from './trigger-fields.ts'

/**
 * Replaces the secret of a trigger. Signatures with the previous one are rejected from now on. The caller becomes the owner, because who
 * has the secret uses the authority of the owner.
 * @throws NotFound, Forbidden when the caller may not start the template now, InvalidInput, Conflict
 */
export async function rotateTriggerSecret(ctx: Ctx, input: z.input<typeof IdInput>): Promise<TriggerWithSecret> {
  authorizeSomewhere(ctx, triggerPermissions.write)
  const { id } = parseInput(IdInput, input)
  const { secret, encrypted } = await newTriggerSecret(ctx, id)
  return inTransaction(ctx, async (tx, ctx) => {
    const before = await lockTrigger(tx, ctx, id)
    await assertTriggerTarget(tx, ctx, { ...before, template: await templateOf(tx, ctx, before) })
    const [trigger] = await tx
      .update(triggers)
      .set({ encrypted, ...ownedBy(ctx), secretCreatedAt: sql`now()`, updatedAt: sql`now()` })
      .where(and(visibleTo(ctx, triggers), eq(triggers.id, id)))
      .returning()
    await audit(tx, ctx, triggerAudit.rotateSecret, trigger!)
    ctx.notify(triggerChanged({ id, tenantId: ctx.tenantId }))
    return { trigger: trigger!, secret }
  })
}
