import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { endJobRuns, nudgesOfEnd } from './end-job-runs.ts'
import { type JobRun, jobRuns } from './tables.ts'

/**
 * Ask a run to stop. One that no worker has claimed ends at once; a running one ends when its worker has stopped it.
 * Asking again changes nothing.
 * @throws Conflict when the run is over already
 */
export async function cancelJobRun(ctx: Ctx, input: z.input<typeof ById>): Promise<JobRun> {
  authorize(ctx, 'job_run:cancel')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const mine = and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), isNull(jobRuns.finishedAt))
    // The lock makes a worker's claim wait: it then finds the run canceled, or we find it claimed.
    const [before] = await tx.select().from(jobRuns).where(mine).for('update')
    if (!before) throw await whyNoRow(tx, ctx, jobRuns, id, 'run', (run) => `The run ${run.id} is over: ${run.status}.`)
    if (before.cancelRequestedAt) return before
    const [asked] = await tx
      .update(jobRuns)
      .set({ cancelRequestedAt: sql`now()`, cancelRequestedByName: ctx.actor.name })
      .where(mine)
      .returning()
    await audit(tx, ctx, 'job_run.cancel', { id, name: before.templateName })
    if (before.startedAt) {
      afterwards({ topic: 'jobRun', id, tenantId: ctx.tenantId })
      afterwards({ topic: 'cancel', id, tenantId: ctx.tenantId })
      return asked!
    }
    const said = `Canceled by ${ctx.actor.name} before it began.`
    const [ended] = await endJobRuns(tx, [id], { endedBy: 'cancel', error: said }, said)
    for (const nudge of nudgesOfEnd(ended!)) afterwards(nudge)
    return ended!
  })
}
