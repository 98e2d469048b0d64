import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { actorColumns, authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { cancelJobRun } from '../runs/index.ts'
import { scheduleAudit } from './audit-actions.ts'
import { scheduleChanged } from './change-events.ts'
import { schedulePermissions } from './permissions.ts'
import { startTarget } from './start-target.ts'
import { type ScheduleFiring, scheduleFirings, schedules } from './tables.ts'
import { overlapReason, unfinishedOf } from './unfinished.ts'

export const RunScheduleInput = z.object({ id: Id, idempotencyKey: IdempotencyKey })

/**
 * Starts the target of a schedule now, with the permissions of the caller. Its times, blackouts and jitter do not apply; its overlap
 * policy does. A disabled schedule can be started, too.
 * @throws Conflict while earlier work has not ended and the policy skips, NotFound, and the errors of `runJob` and `discoverNodes`
 */
export async function runSchedule(ctx: Ctx, input: z.input<typeof RunScheduleInput>): Promise<ScheduleFiring> {
  authorizeSomewhere(ctx, schedulePermissions.write)
  const { id, idempotencyKey } = parseInput(RunScheduleInput, input)
  return idempotent(
    ctx,
    { verb: 'runSchedule', key: idempotencyKey, input: { id }, result: oneRow(scheduleFirings) },
    async (tx, ctx) => {
      // The lock orders it with a worker that fires the schedule.
      const [schedule] = await tx
        .select()
        .from(schedules)
        .where(and(visibleTo(ctx, schedules), eq(schedules.id, id)))
        .for('update')
      if (!schedule) throw new NotFound(`There is no schedule ${id}.`)
      const previous = await unfinishedOf(tx, ctx, id)
      if (previous && schedule.overlap === 'skip')
        throw new Conflict(`${overlapReason(previous)} Cancel it, or wait for its end.`)
      if (schedule.overlap === 'cancel_previous') for (const run of previous?.runs ?? []) await cancelJobRun(ctx, { id: run.id })
      const firingId = newId()
      const started = await startTarget(tx, ctx, schedule, `schedule ${id} ${firingId}`)
      const [firing] = await tx
        .insert(scheduleFirings)
        .values({
          id: firingId,
          tenantId: ctx.tenantId,
          scheduleId: id,
          dueAt: sql`now()`,
          outcome: 'STARTED',
          ...started,
          ...actorColumns(ctx, 'requested'),
          createdAt: sql`now()`,
        })
        .returning()
      await audit(tx, ctx, scheduleAudit.run, schedule, {}, { runId: firing!.jobRunId })
      ctx.notify(scheduleChanged({ id, tenantId: ctx.tenantId }))
      return firing!
    },
  )
}
