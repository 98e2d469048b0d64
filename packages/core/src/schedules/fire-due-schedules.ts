import { and, asc, eq, isNull, lte } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { databaseNow } from './create-schedule.ts'
import { fireSchedule } from './fire-schedule.ts'
import { schedulePermissions } from './permissions.ts'
import { schedules } from './tables.ts'

const AT_ONCE = 100

/**
 * Reconciler, over all tenants, safe with any number of workers: starts what enabled schedules are due for, each due time once.
 * Schedules of suspended tenants wait; their catch-up policy applies when the tenant is resumed.
 * @param now for tests; the time of the database otherwise
 * @returns the number of due times that this call has processed
 */
export async function fireDueSchedules(ctx: SystemCtx, now?: Date): Promise<number> {
  authorize(ctx, schedulePermissions.fire)
  const time = now ?? (await databaseNow(ctx.db))
  const due = await ctx.db
    .select({ schedule: schedules })
    .from(schedules)
    .innerJoin(tenants, eq(tenants.id, schedules.tenantId))
    .where(
      and(eq(schedules.isEnabled, true), lte(schedules.nextRunAt, time), isNull(tenants.suspendedAt), isNull(tenants.deletedAt)),
    )
    .orderBy(asc(schedules.nextRunAt))
    .limit(AT_ONCE)
  let count = 0
  for (const { schedule } of due)
    try {
      if (await fireSchedule(ctx, schedule, time)) count++
    } catch (error) {
      // The due time is still there, so the next pass tries again.
      ctx.log.warn({ err: error, scheduleId: schedule.id, tenantId: schedule.tenantId }, 'cannot fire a schedule')
    }
  return count
}
