import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { nameTaken, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { scheduleAudit } from './audit-actions.ts'
import { scheduleChanged } from './change-events.ts'
import { ownedBy } from './owner.ts'
import { schedulePermissions } from './permissions.ts'
import { assertTarget, SCHEDULE_FIELDS, timingIssues } from './schedule-fields.ts'
import { type Schedule, schedules } from './tables.ts'
import { nextDueTime } from './times.ts'

export const CreateScheduleInput = z.object({
  ...SCHEDULE_FIELDS,
  description: SCHEDULE_FIELDS.description.nullish(),
  template: SCHEDULE_FIELDS.template.nullish(),
  settings: SCHEDULE_FIELDS.settings.nullish(),
  timeZone: SCHEDULE_FIELDS.timeZone.nullish(),
  jitterSeconds: SCHEDULE_FIELDS.jitterSeconds.nullish(),
  blackouts: SCHEDULE_FIELDS.blackouts.nullish(),
  startsAt: SCHEDULE_FIELDS.startsAt.nullish(),
  endsAt: SCHEDULE_FIELDS.endsAt.nullish(),
  catchUp: SCHEDULE_FIELDS.catchUp.nullish(),
  overlap: SCHEDULE_FIELDS.overlap.nullish(),
  isEnabled: z.boolean().nullish(),
  idempotencyKey: IdempotencyKey,
})

const MAX_SCHEDULES = 1000

/**
 * Creates a schedule, which starts its target at the times of its rule with the permissions that the caller has then.
 * @throws InvalidInput, Forbidden when the caller may not start the target now, NotFound, Conflict when the name is taken
 */
export async function createSchedule(ctx: Ctx, input: z.input<typeof CreateScheduleInput>): Promise<Schedule> {
  authorizeSomewhere(ctx, schedulePermissions.write)
  const { idempotencyKey, template, isEnabled, ...given } = parseInput(CreateScheduleInput, input)
  return idempotent(
    ctx,
    { verb: 'createSchedule', key: idempotencyKey, input: { ...given, template, isEnabled }, result: oneRow(schedules) },
    async (tx, ctx) => {
      const now = await databaseNow(tx)
      const fields = {
        id: newId(),
        name: given.name,
        description: given.description ?? '',
        target: given.target,
        limit: given.limit,
        settings: given.settings ?? {},
        rule: given.rule,
        timeZone: given.timeZone ?? 'UTC',
        jitterSeconds: given.jitterSeconds ?? 0,
        blackouts: given.blackouts ?? [],
        startsAt: given.startsAt ?? null,
        endsAt: given.endsAt ?? null,
        catchUp: given.catchUp ?? ('skip' as const),
        overlap: given.overlap ?? ('skip' as const),
        isEnabled: isEnabled ?? true,
      }
      const issues = timingIssues(fields, now)
      if (issues.length > 0) throw new InvalidInput(issues)
      const templateId = await assertTarget(tx, ctx, { ...fields, template: template ?? null })
      if ((await tx.$count(schedules, visibleTo(ctx, schedules))) >= MAX_SCHEDULES)
        throw new Conflict(`The tenant already has ${MAX_SCHEDULES} schedules, which is the maximum. Delete a schedule first.`)
      const next = fields.isEnabled ? nextDueTime(fields, now) : null
      const [schedule] = await tx
        .insert(schedules)
        .values({
          ...fields,
          tenantId: ctx.tenantId,
          templateId,
          dueAt: next?.dueAt ?? null,
          nextRunAt: next?.runAt ?? null,
          ...ownedBy(ctx),
          ...createdBy(ctx),
        })
        .onConflictDoNothing()
        .returning()
      if (!schedule) throw nameTaken('schedule', fields.name)
      await audit(tx, ctx, scheduleAudit.create, schedule, { rule: fields.rule, timeZone: fields.timeZone, limit: fields.limit })
      ctx.notify(scheduleChanged({ id: schedule.id, tenantId: ctx.tenantId }))
      return schedule
    },
  )
}

/** The time of the database, which all workers share. */
export async function databaseNow(db: Pick<Tx, 'execute'>): Promise<Date> {
  const { rows } = await db.execute<{ ms: number }>(sql`select (extract(epoch from now()) * 1000)::float8 as ms`)
  return new Date(Math.floor(rows[0]!.ms))
}
