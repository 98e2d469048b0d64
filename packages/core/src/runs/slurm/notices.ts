import { eq, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { jobRunChanged, jobRunEventsAppended } from '../change-events.ts'
import { jobRunEvents, jobRuns } from '../tables.ts'

/** Appends a line to the log of a run that no worker has claimed. The caller has locked the run. */
export async function appendNotice(tx: Tx, ctx: Ctx, id: string, text: string): Promise<void> {
  const [run] = await tx
    .update(jobRuns)
    .set({ lastSeq: sql`${jobRuns.lastSeq} + 1`, lastLine: sql`${jobRuns.lastLine} + 1`, workerSeenAt: sql`now()` })
    .where(eq(jobRuns.id, id))
    .returning({ lastSeq: jobRuns.lastSeq, lastLine: jobRuns.lastLine, now: jobRuns.workerSeenAt })
  const { lastSeq, lastLine, now } = run!
  await tx.insert(jobRunEvents).values({
    jobRunId: id,
    seq: lastSeq,
    kind: 'notice',
    stdout: text,
    startLine: lastLine,
    lineCount: 1,
    createdAt: now!,
  })
  ctx.notify(jobRunEventsAppended({ id, tenantId: ctx.tenantId, seq: lastSeq }))
  ctx.notify(jobRunChanged({ id, tenantId: ctx.tenantId }))
}
