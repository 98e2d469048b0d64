import { and, eq, sql } from 'drizzle-orm'
import { findOwnerActor } from '../access/index.ts'
import { audit } from '../audit/index.ts'
import { type Actor, type Ctx, inTransaction, type SystemCtx, type Tx, tenantCtx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { DomainError, Forbidden } from '../kernel/errors.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import { cancelJobRun } from '../runs/index.ts'
import { scheduleAudit } from './audit-actions.ts'
import { blackoutFinder } from './blackouts.ts'
import { scheduleChanged } from './change-events.ts'
import { ownerGoneMessage } from './owner.ts'
import { RuleError } from './rule.ts'
import { startTarget } from './start-target.ts'
import { type FiringReason, type Schedule, type ScheduleFiring, scheduleFirings, schedules } from './tables.ts'
import { countDueTimes, type DueTime, nextDueTime, nextDueTimeAt } from './times.ts'
import { overlapReason, unfinishedOf } from './unfinished.ts'

/** A firing later than this after its time is missed: the catch-up policy decides about it. */
const LATE_AFTER_MS = 120_000

/** What a firing records. */
type Result = Pick<ScheduleFiring, 'outcome'> & Partial<Pick<ScheduleFiring, 'reason' | 'message' | 'jobRunId' | 'discoveryIds'>>

const skipped = (reason: FiringReason, message: string): Result => ({ outcome: 'SKIPPED', reason, message })

/**
 * Claims the due time of a schedule, starts its target with the authority of the owner, and records the result. One transaction, so that
 * a due time is either processed completely or still due.
 * @param schedule as read before; the claim fails when it changed since
 * @returns null when another worker has claimed it, or it changed
 */
export async function fireSchedule(system: SystemCtx, schedule: Schedule, now: Date): Promise<ScheduleFiring | null> {
  const owner = await findOwnerActor(system.db, schedule.tenantId, schedule)
  const ctx = tenantCtx(system, schedule.tenantId, system.actor)
  try {
    return await processDueTime(ctx, schedule, now, (tx, ctx) => start(tx, ctx, schedule, owner, now))
  } catch (error) {
    if (isTransientDbError(error)) throw error
    ctx.log.error({ err: error, scheduleId: schedule.id }, 'a schedule failed unexpectedly')
    const message = 'An internal error occurred; the log of the worker has it.'
    return processDueTime(ctx, schedule, now, async () => ({ outcome: 'FAILED', reason: 'error', message }))
  }
}

async function processDueTime(
  ctx: Ctx,
  schedule: Schedule,
  now: Date,
  work: (tx: Tx, ctx: Ctx) => Promise<Result>,
): Promise<ScheduleFiring | null> {
  const { id, tenantId } = schedule
  const dueAt = schedule.dueAt!
  const isLate = now.getTime() - schedule.nextRunAt!.getTime() > LATE_AFTER_MS
  const { next, error } = followingTime(schedule, isLate ? now : null)
  return inTransaction(ctx, async (tx, ctx) => {
    const [claimed] = await tx
      .update(schedules)
      .set({ dueAt: next?.dueAt ?? null, nextRunAt: next?.runAt ?? null, updatedAt: sql`${schedules.updatedAt}` })
      .where(
        and(
          visibleTo(ctx, schedules),
          eq(schedules.id, id),
          eq(schedules.isEnabled, true),
          eq(schedules.dueAt, dueAt),
          eq(schedules.nextRunAt, schedule.nextRunAt!),
          // Text, because JavaScript's dates have milliseconds only.
          sql`date_trunc('milliseconds', ${schedules.updatedAt}) = ${schedule.updatedAt.toISOString()}::timestamptz`,
        ),
      )
      .returning({ id: schedules.id })
    if (!claimed) return null
    // Due again after a change, or because the clock was set back.
    if ((await tx.$count(scheduleFirings, and(eq(scheduleFirings.scheduleId, id), eq(scheduleFirings.dueAt, dueAt)))) > 0)
      return null
    const result = error ?? (await work(tx, ctx))
    const [firing] = await tx
      .insert(scheduleFirings)
      .values({
        tenantId,
        scheduleId: id,
        dueAt,
        missedCount: isLate ? countDueTimes(schedule, dueAt, now) : 0,
        ...result,
        createdAt: sql`now()`,
      })
      .returning()
    const { outcome, reason = null, message = null, jobRunId = null } = result
    await audit(tx, ctx, scheduleAudit.fire, schedule, { dueAt, outcome, cause: reason, message }, { runId: jobRunId })
    ctx.notify(scheduleChanged({ id, tenantId }))
    return firing!
  })
}

/**
 * A schedule whose next time cannot be found must not end silently: its last result is a failure, and an alert names it.
 * @param now when the due time is missed, with all that would have run until then
 */
function followingTime(schedule: Schedule, now: Date | null): { next: DueTime | null; error: Result | null } {
  try {
    const dueAt = schedule.dueAt!
    return { next: now ? nextDueTimeAt(schedule, dueAt, now) : nextDueTime(schedule, dueAt), error: null }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    const message = `There is no next time, because the rule ${error.message}. Change the rule.`
    return { next: null, error: { outcome: 'FAILED', reason: 'error', message } }
  }
}

/** Decides whether to start the target, and starts it. */
async function start(tx: Tx, ctx: Ctx, schedule: Schedule, owner: Actor | null, now: Date): Promise<Result> {
  const nextRunAt = schedule.nextRunAt!
  const isLate = now.getTime() - nextRunAt.getTime() > LATE_AFTER_MS
  if (isLate && schedule.catchUp === 'skip')
    return skipped('missed', 'No worker could start it at its time, and the catch-up policy skips missed times.')
  const blackout = blackoutFinder(schedule.blackouts, schedule.timeZone)(isLate ? now : nextRunAt)
  if (blackout) return skipped('blackout', `The blackout ${blackout.name} covers this time.`)
  const previous = await unfinishedOf(tx, ctx, schedule.id)
  if (schedule.overlap === 'skip' && previous) return skipped('overlap', overlapReason(previous))
  const key = `schedule ${schedule.id} ${schedule.dueAt!.toISOString()}`
  if (!owner) return { outcome: 'FAILED', reason: 'refused', message: ownerGoneMessage('schedule', schedule) }
  try {
    // A savepoint: a refused start leaves nothing behind, and the due time is processed nevertheless.
    return await inTransaction({ ...ctx, actor: owner }, async (tx, owned) => {
      if (schedule.overlap === 'cancel_previous') for (const { id } of previous?.runs ?? []) await cancelJobRun(owned, { id })
      return { outcome: 'STARTED', ...(await startTarget(tx, owned, schedule, key)) }
    })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { outcome: 'FAILED', reason: error instanceof Forbidden ? 'refused' : 'error', message: error.message }
  }
}
