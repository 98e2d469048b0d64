import { isDeepStrictEqual } from 'node:util'
import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { nameTaken, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { jobTemplates } from '../templates/tables.ts'
import { scheduleAudit } from './audit-actions.ts'
import { scheduleChanged } from './change-events.ts'
import { databaseNow } from './create-schedule.ts'
import { lockSchedule } from './lock-schedule.ts'
import { ownedBy } from './owner.ts'
import { schedulePermissions } from './permissions.ts'
import { assertTarget, SCHEDULE_FIELDS, timingIssues } from './schedule-fields.ts'
import { type Schedule, scheduleFirings, schedules } from './tables.ts'
import { nextDueTime } from './times.ts'

const { target: _target, ...CHANGEABLE } = SCHEDULE_FIELDS
export const UpdateScheduleInput = z.object({ ...z.object(CHANGEABLE).partial().shape, id: Id })

/** The fields that decide about the due times. Others leave a pending time as it is. */
const TIMES = ['rule', 'timeZone', 'jitterSeconds', 'startsAt', 'endsAt'] as const

/**
 * Changes the given fields; null clears the start or end. The caller becomes the owner, because what runs is now the caller's decision.
 * @throws InvalidInput, Forbidden when the caller may not start the target now, NotFound, Conflict when the name is taken
 */
export async function updateSchedule(ctx: Ctx, input: z.input<typeof UpdateScheduleInput>): Promise<Schedule> {
  authorizeSomewhere(ctx, schedulePermissions.write)
  const { id, template, ...changes } = parseInput(UpdateScheduleInput, input)
  const work = inTransaction(ctx, async (tx, ctx) => {
    const before = await lockSchedule(tx, ctx, id)
    const fields = { ...before, ...changes }
    const now = await databaseNow(tx)
    const differs = (field: (typeof TIMES)[number] | 'blackouts') => !isDeepStrictEqual(fields[field], before[field])
    const hasNewTimes = TIMES.some(differs)
    const issues = hasNewTimes || differs('blackouts') ? timingIssues(fields, now) : []
    if (issues.length > 0) throw new InvalidInput(issues)
    const [current] = before.templateId
      ? await tx
          .select({ name: jobTemplates.name })
          .from(jobTemplates)
          .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.id, before.templateId)))
      : []
    const templateId = await assertTarget(tx, ctx, { ...fields, template: template ?? current?.name ?? null })
    if (hasNewTimes && before.dueAt && before.dueAt <= now) await recordDropped(tx, before)
    const next = fields.isEnabled && hasNewTimes ? nextDueTime(fields, now) : null
    const [schedule] = await tx
      .update(schedules)
      .set({
        ...changes,
        templateId,
        ...(hasNewTimes ? { dueAt: next?.dueAt ?? null, nextRunAt: next?.runAt ?? null } : {}),
        ...ownedBy(ctx),
        updatedAt: sql`now()`,
      })
      .where(and(visibleTo(ctx, schedules), eq(schedules.id, id)))
      .returning()
    await audit(tx, ctx, scheduleAudit.update, schedule!, {
      changed: Object.keys({ ...changes, ...(template ? { template } : {}) }),
    })
    ctx.notify(scheduleChanged({ id, tenantId: ctx.tenantId }))
    return schedule!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('schedule', changes.name)
    throw error
  })
}

/** A due time that waits for its jitter or for a worker does not disappear without a trace. */
const recordDropped = (tx: Tx, { tenantId, id, dueAt }: Schedule) =>
  tx
    .insert(scheduleFirings)
    .values({
      tenantId,
      scheduleId: id,
      dueAt: dueAt!,
      outcome: 'SKIPPED',
      reason: 'missed',
      createdAt: sql`now()`,
      message: 'The times of the schedule were changed before this time started anything.',
    })
    .onConflictDoNothing()
