import { and, eq, sql } from 'drizzle-orm'
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
import { type Schedule, schedules } from './tables.ts'

/** Disables a schedule: it starts nothing until it is enabled. What it has started continues. @throws NotFound, Forbidden */
export async function disableSchedule(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Schedule> {
  authorizeSomewhere(ctx, schedulePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const before = await lockSchedule(tx, ctx, id)
    if (!before.isEnabled) return before
    const [schedule] = await tx
      .update(schedules)
      .set({ isEnabled: false, dueAt: null, nextRunAt: null, updatedAt: sql`now()` })
      .where(and(visibleTo(ctx, schedules), eq(schedules.id, id)))
      .returning()
    await audit(tx, ctx, scheduleAudit.disable, schedule!)
    ctx.notify(scheduleChanged({ id, tenantId: ctx.tenantId }))
    return schedule!
  })
}
