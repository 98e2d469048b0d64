import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { actorColumns, authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { jobRunAudit } from '../audit-actions.ts'
import { jobRunCancelRequested, jobRunChanged } from '../change-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { type JobRun, jobRuns } from '../tables.ts'
import { authorizeCancel } from './authorize-run.ts'
import { changeEventsOfEnd, endJobRuns } from './end-job-runs.ts'

/**
 * Requests cancellation of a run. An unclaimed run ends immediately; a running one ends when its worker has stopped it. A second
 * request has no effect.
 * @throws Conflict when the run already ended
 */
export async function cancelJobRun(ctx: Ctx, input: z.input<typeof IdInput>): Promise<JobRun> {
  authorizeSomewhere(ctx, jobRunPermissions.cancel)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const unfinished = and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), isNull(jobRuns.finishedAt))
    // The lock blocks a concurrent claim. Either the claim finds the run canceled, or this transaction finds it claimed.
    const [before] = await tx.select().from(jobRuns).where(unfinished).for('update')
    if (!before) throw await notFoundOrConflict(tx, ctx, jobRuns, id, 'run', (run) => `The run ${run.id} is over: ${run.status}.`)
    await authorizeCancel(tx, ctx, before)
    if (before.cancelRequestedAt) return before
    return requestCancel(tx, ctx, before, actorColumns(ctx, 'cancelRequested'))
  })
}

/**
 * Cancels an unfinished run that the caller has locked.
 * @param by who asked for it
 */
export async function requestCancel(
  tx: Tx,
  ctx: Ctx,
  { id, templateName, startedAt }: JobRun,
  by: Pick<JobRun, 'cancelRequestedById' | 'cancelRequestedByName'>,
): Promise<JobRun> {
  const [asked] = await tx
    .update(jobRuns)
    .set({ cancelRequestedAt: sql`now()`, ...by })
    .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id)))
    .returning()
  await audit(tx, ctx, jobRunAudit.cancel, { id, name: templateName })
  if (startedAt) {
    ctx.notify(jobRunChanged({ id, tenantId: ctx.tenantId }))
    ctx.notify(jobRunCancelRequested({ id, tenantId: ctx.tenantId }))
    return asked!
  }
  const message = `Canceled by ${by.cancelRequestedByName} before it began.`
  const [ended] = await endJobRuns(tx, [id], { endCause: 'cancel', error: message }, message)
  for (const changeEvent of changeEventsOfEnd(ended!)) ctx.notify(changeEvent)
  return ended!
}
