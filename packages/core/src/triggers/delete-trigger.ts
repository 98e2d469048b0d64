import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { triggerAudit } from './audit-actions.ts'
import { triggerChanged } from './change-events.ts'
import { lockTrigger } from './lock-trigger.ts'
import { triggerPermissions } from './permissions.ts'
import { triggers } from './tables.ts'

/** Deletes a trigger with its secret and history. Runs that it has started continue. @throws NotFound, Forbidden */
export async function deleteTrigger(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorizeSomewhere(ctx, triggerPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const trigger = await lockTrigger(tx, ctx, id)
    await tx.delete(triggers).where(and(visibleTo(ctx, triggers), eq(triggers.id, id)))
    await audit(tx, ctx, triggerAudit.delete, trigger)
    ctx.notify(triggerChanged({ id, tenantId: ctx.tenantId }))
    return { id }
  })
}
