import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { nameTaken, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { ownedBy } from '../schedules/index.ts'
import { triggerAudit } from './audit-actions.ts'
import { triggerChanged } from './change-events.ts'
import { lockTrigger, templateOf } from './lock-trigger.ts'
import { triggerPermissions } from './permissions.ts'
import { type Trigger, triggers } from './tables.ts'
import { assertTriggerTarget, TRIGGER_FIELDS } from './trigger-fields.ts'

const { signature: _signature, ...CHANGEABLE } = TRIGGER_FIELDS
export const UpdateTriggerInput = z.object({ ...z.object(CHANGEABLE).partial().shape, id: Id })

/**
 * Changes the given fields; null clears the path of nodes. The caller becomes the owner, except when it only disables the trigger.
 * @throws InvalidInput, Forbidden when the caller may not start the template now, NotFound, Conflict when the name is taken
 */
export async function updateTrigger(ctx: Ctx, input: z.input<typeof UpdateTriggerInput>): Promise<Trigger> {
  authorizeSomewhere(ctx, triggerPermissions.write)
  const { id, template, ...changes } = parseInput(UpdateTriggerInput, input)
  const given = Object.keys({ ...changes, ...(template ? { template } : {}) })
  if (given.length === 0) throw new InvalidInput([{ path: '', message: 'Give at least one field to change.' }])
  const onlyDisables = given.length === 1 && changes.isEnabled === false
  const work = inTransaction(ctx, async (tx, ctx) => {
    const before = await lockTrigger(tx, ctx, id)
    const fields = { ...before, ...changes, template: template ?? (await templateOf(tx, ctx, before)) }
    const target = onlyDisables ? {} : { templateId: await assertTriggerTarget(tx, ctx, fields), ...ownedBy(ctx) }
    const [trigger] = await tx
      .update(triggers)
      .set({ ...changes, ...target, updatedAt: sql`now()` })
      .where(and(visibleTo(ctx, triggers), eq(triggers.id, id)))
      .returning()
    await audit(tx, ctx, triggerAudit.update, trigger!, { changed: given })
    ctx.notify(triggerChanged({ id, tenantId: ctx.tenantId }))
    return trigger!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('trigger', changes.name)
    throw error
  })
}
