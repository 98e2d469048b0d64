import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { jobTemplates } from '../templates/tables.ts'
import { scheduleAudit } from './audit-actions.ts'
import { scheduleChanged } from './change-events.ts'
import { databaseNow } from './create-schedule.ts'
import { lockSchedule } from './lock-schedule.ts'
import { ownedBy } from './owner.ts'
import { schedulePermissions } from './permissions.ts'
import { assertTarget, timingIssues } from './schedule-fields.ts'
import { type Schedule, schedules } from './tables.ts'
import { nextDueTime } from './times.ts'

/**
 * Enables a schedule from its next time on; an enabled one is left unchanged. The caller becomes the owner.
 * @throws InvalidInput when it has no time in the future, Forbidden when the caller may not start the target now, NotFound
 */
export async function enableSchedule(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Schedule> {
  authorizeSomewhere(ctx, schedulePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const before = await lockSchedule(tx, ctx, id)
    if (before.isEnabled) return before
    const now = await databaseNow(tx)
    const issues = timingIssues(before, now)
    if (issues.length > 0) throw new InvalidInput(issues)
    const [template] = before.templateId
      ? await tx
          .select({ name: jobTemplates.name })
          .from(jobTemplates)
          .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.id, before.templateId)))
      : []
    await assertTarget(tx, ctx, { ...before, template: template?.name ?? null })
    const next = nextDueTime(before, now)!
    const [schedule] = await tx
      .update(schedules)
      .set({ isEnabled: true, dueAt: next.dueAt, nextRunAt: next.runAt, ...ownedBy(ctx), updatedAt: sql`now()` })
      .where(and(visibleTo(ctx, schedules), eq(schedules.id, id)))
      .returning()
    await audit(tx, ctx, scheduleAudit.enable, schedule!)
    ctx.notify(scheduleChanged({ id, tenantId: ctx.tenantId }))
    return schedule!
  })
}
