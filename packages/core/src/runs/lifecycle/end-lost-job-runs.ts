import { and, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import type { SystemCtx, Tx } from '../../kernel/context.ts'
import { authorize } from '../../kernel/context.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import { WORKER_LOST_AFTER_SECONDS } from '../../run-queue/index.ts'
import { nodeLocks } from '../../run-queue/tables.ts'
import { jobRunPermissions } from '../permissions.ts'
import { jobRunQueue } from '../queues.ts'
import { type JobRun, jobRunEvents, jobRunHosts, jobRuns } from '../tables.ts'
import { changeEventsOfEnd, endJobRuns } from './end-job-runs.ts'

// A run can wait in the queue for long while workers are busy. Its wake-up is lost only when the worker that held it died, or
// when a database answer was lost. After either event, all waiting runs are enqueued immediately.
const REMIND_AFTER_S = 300
const AT_ONCE = 200

const ERROR =
  'The worker of the run was lost: its process or machine stopped, or could not reach the database. Check the hosts, then start the run again.'

/**
 * Reconciler, over all tenants. Ends runs as ERROR that had no sign of life from their worker for 30 s. Each ends exactly once,
 * however many processes call this. The first time, a run of an idempotent template returns to the queue instead. Enqueues runs
 * that have waited long, because their wake-up may be lost. After a worker was lost, it enqueues all waiting runs.
 * @param wasDatabaseUnavailable wake-ups may be lost, so all waiting runs are enqueued
 * @returns numbers of ended, retried and enqueued runs
 */
export async function endLostJobRuns(
  ctx: SystemCtx,
  { wasDatabaseUnavailable = false } = {},
): Promise<{ ended: number; retried: number; reminded: number }> {
  authorize(ctx, jobRunPermissions.report)
  const { ended, retried, reminded } = await ctx.db.transaction(async (tx) => {
    const untouched = (seconds: number) => sql`${jobRuns.workerSeenAt} < now() - make_interval(secs => ${seconds})`
    const open = await tx
      .select({
        id: jobRuns.id,
        tenantId: jobRuns.tenantId,
        isLast: sql<boolean>`not ${jobRuns.isIdempotent}
        or ${jobRuns.retriedAt} is not null or ${jobRuns.cancelRequestedAt} is not null`,
      })
      .from(jobRuns)
      .where(
        and(
          isNull(jobRuns.finishedAt),
          isNotNull(jobRuns.startedAt),
          isNull(jobRuns.slurm),
          untouched(WORKER_LOST_AFTER_SECONDS),
        ),
      )
      .limit(AT_ONCE)
      .for('update', { skipLocked: true })
    const last = open.filter((run) => run.isLast).map((run) => run.id)
    const retryable = open.filter((run) => !run.isLast).map((run) => run.id)
    const ended = await endJobRuns(tx, last, { endCause: 'lost', error: ERROR }, 'Worker lost.')
    const retried = await restartRuns(tx, retryable)
    const isLate = untouched(wasDatabaseUnavailable || open.length > 0 ? 0 : REMIND_AFTER_S)
    const reminded = await tx
      .update(jobRuns)
      .set({ workerSeenAt: sql`now()` })
      .where(and(isNull(jobRuns.finishedAt), isNull(jobRuns.startedAt), isNull(jobRuns.waitingSince), isLate))
      .returning()
    await ctx.queue.send(
      tx,
      jobRunQueue,
      [...retried, ...reminded].map(({ id, tenantId }) => ({ id, tenantId })),
    )
    return { ended, retried, reminded }
  })
  for (const changeEvent of [...ended, ...retried].flatMap(changeEventsOfEnd)) ctx.notify(changeEvent)
  return { ended: ended.length, retried: retried.length, reminded: reminded.length }
}

/** Returns runs to the waiting state. Their log continues with a notice. */
async function restartRuns(tx: Tx, ids: string[]): Promise<JobRun[]> {
  if (ids.length === 0) return []
  const runs = await tx
    .update(jobRuns)
    .set({
      startedAt: null,
      claimToken: null,
      claimedBy: null,
      ansibleStartedAt: null,
      workerSeenAt: sql`now()`,
      retriedAt: sql`now()`,
      lastSeq: sql`${jobRuns.lastSeq} + 1`,
      lastLine: sql`${jobRuns.lastLine} + 1`,
    })
    .where(isOneOf(jobRuns.id, ids))
    .returning()
  await tx.update(nodeLocks).set({ acquiredAt: null }).where(isOneOf(nodeLocks.jobRunId, ids))
  await tx
    .update(jobRunHosts)
    .set({
      ...{ ok: 0, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
      ...{ result: 'PENDING', currentTask: null, currentTaskAt: null, message: null, failureSignature: null },
    })
    .where(and(isOneOf(jobRunHosts.jobRunId, ids), ne(jobRunHosts.result, 'OFFLINE')))
  const notice = { kind: 'notice' as const, stdout: 'Worker lost. The run starts again.', lineCount: 1 }
  await tx
    .insert(jobRunEvents)
    .values(
      runs.map((run) => ({ ...notice, jobRunId: run.id, seq: run.lastSeq, startLine: run.lastLine, createdAt: run.retriedAt! })),
    )
  return runs
}
