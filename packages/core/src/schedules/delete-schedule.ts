import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { scheduleAudit } from './audit-actions.ts'
import { scheduleChanged } from './change-events.ts'
import { lockSchedule } from './lock-schedule.ts'
import { schedulePermissions } from './permissions.ts'
import { schedules } from './tables.ts'

/** Deletes a schedule with its history. What it has started continues. @throws NotFound, Forbidden */
export async function deleteSchedule(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorizeSomewhere(ctx, schedulePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const schedule = await lockSchedule(tx, ctx, id)
    await tx.delete(schedules).where(and(visibleTo(ctx, schedules), eq(schedules.id, id)))
    await audit(tx, ctx, scheduleAudit.delete, schedule)
    ctx.notify(scheduleChanged({ id, tenantId: ctx.tenantId }))
    return { id }
  })
}
