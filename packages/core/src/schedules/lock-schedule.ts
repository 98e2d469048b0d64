import { and, eq } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Forbidden, NotFound } from '../kernel/errors.ts'
import { scheduleWriteBlockedReason } from './policy.ts'
import { type Schedule, schedules } from './tables.ts'

/** Locks a schedule that the caller may change. @throws NotFound, Forbidden */
export async function lockSchedule(tx: Tx, ctx: Ctx, id: string): Promise<Schedule> {
  const [schedule] = await tx
    .select()
    .from(schedules)
    .where(and(visibleTo(ctx, schedules), eq(schedules.id, id)))
    .for('update')
  if (!schedule) throw new NotFound(`There is no schedule ${id}.`)
  const reason = scheduleWriteBlockedReason(ctx.actor, schedule)
  if (reason) throw new Forbidden(reason)
  return schedule
}
