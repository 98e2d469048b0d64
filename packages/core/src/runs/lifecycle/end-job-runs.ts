import { sql } from 'drizzle-orm'
import type { Tx } from '../../kernel/context.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import type { ChangeEvent } from '../../kernel/events.ts'
import { endMaintenanceOfRuns } from '../../node-states/index.ts'
import { nodesFreed } from '../../run-queue/change-events.ts'
import { releaseLocks } from '../../run-queue/index.ts'
import { jobRunChanged, jobRunEventsAppended } from '../change-events.ts'
import { type EndCause, type JobRun, jobRunEvents, jobRunHosts, jobRuns } from '../tables.ts'
import { hostCounts } from './host-counts.ts'

export type End = {
  endCause: EndCause
  exitCode?: number | null
  /** For the operator: what went wrong and what to do next. */
  error?: string | null
}

/** An ended run; the first one has the change events of the nodes of all. */
type EndedRun = JobRun & { nodeEvents?: ChangeEvent[] }

/**
 * Ends runs that the caller has locked and knows to be unfinished, all in the same way. Sets the final results and counts of
 * hosts, releases node locks, ends maintenance that the runs have set, and appends the `run_end` event. A host between two tasks becomes INTERRUPTED and counts neither as
 * ok nor as failed, because its result is unknown. A host inside a task counts as failed only if ansible-playbook exited by
 * itself; cancel, timeout and worker loss are not failures of the host. The caller sends `changeEventsOfEnd` after the commit.
 * @param lastLine last line of the log; null adds none
 */
export async function endJobRuns(tx: Tx, ids: string[], end: End, lastLine: string | null): Promise<EndedRun[]> {
  if (ids.length === 0) return []
  const runs = await tx
    .update(jobRuns)
    .set({
      finishedAt: sql`now()`,
      workerSeenAt: sql`now()`,
      waitingSince: null,
      endCause: end.endCause,
      exitCode: end.exitCode ?? null,
      error: end.error ?? null,
      interruptedHosts: sql`array(select h.name from ${jobRunHosts} h
        where h.job_run_id = ${jobRuns.id} and h.result = 'RUNNING' and h.current_task is not null order by h.name)`,
      ...hostCounts,
      ...(end.endCause === 'exit'
        ? {
            hostsFailed: sql`(select count(*) from ${jobRunHosts} h where h.job_run_id = ${jobRuns.id}
              and (h.result = 'FAILED' or h.result = 'RUNNING' and h.current_task is not null))`,
          }
        : {}),
      lastSeq: sql`${jobRuns.lastSeq} + 1`,
      lastLine: sql`${jobRuns.lastLine} + ${lastLine === null ? 0 : 1}`,
    })
    .where(isOneOf(jobRuns.id, ids))
    .returning()
  await tx
    .update(jobRunHosts)
    .set({
      result: sql`case when result = 'PENDING' then 'NOT_RUN'
        when current_task is not null and ${end.endCause === 'exit'} then 'FAILED' else 'INTERRUPTED' end`,
      message: sql`case when result = 'PENDING' then message
        when current_task is null then coalesce(message, 'the run ended before the result of this host was known')
        else coalesce(message, 'the run ended in the middle of this task') end`,
    })
    .where(sql`${isOneOf(jobRunHosts.jobRunId, ids)} and ${jobRunHosts.result} in ('RUNNING', 'PENDING')`)
  await releaseLocks(tx, ids)
  const rebooted = runs.filter(({ setsMaintenance }) => setsMaintenance).map(({ id }) => id)
  const nodeEvents = rebooted.length > 0 ? await endMaintenanceOfRuns(tx, rebooted) : []
  await tx.insert(jobRunEvents).values(
    runs.map((run) => ({
      jobRunId: run.id,
      seq: run.lastSeq,
      kind: 'run_end' as const,
      result: { status: run.status, exitCode: run.exitCode, interruptedHosts: run.interruptedHosts },
      stdout: lastLine,
      startLine: lastLine === null ? run.lastLine + 1 : run.lastLine,
      lineCount: lastLine === null ? 0 : 1,
      createdAt: run.finishedAt!,
    })),
  )
  return runs.map((run, i) => (i === 0 ? { ...run, nodeEvents } : run))
}

/** Change events for observers of the run, followers of its log, and runs that wait for its nodes. Send them after the commit. */
export const changeEventsOfEnd = ({ id, tenantId, lastSeq, nodeEvents = [] }: EndedRun): ChangeEvent[] => [
  ...nodeEvents,
  jobRunEventsAppended({ id, tenantId, seq: lastSeq }),
  jobRunChanged({ id, tenantId }),
  nodesFreed({ id: tenantId, tenantId }),
]
