import { sql } from 'drizzle-orm'
import type { Tx } from '../context.ts'
import { isOneOf } from '../db/rows.ts'
import type { Nudge } from '../events.ts'
import { freeNodes } from './node-locks.ts'
import { type EndedBy, type JobRun, jobRunEvents, jobRunHosts, jobRuns } from './tables.ts'

export type End = {
  endedBy: EndedBy
  exitCode?: number | null
  /** For the operator: what went wrong and what to do next. */
  error?: string | null
}

/**
 * End runs that the caller has locked and knows to be unfinished, all in the same way: settle their hosts, count them, free their
 * nodes, and append the `run_end` event to their logs. A host between two tasks becomes INTERRUPTED, and counts as neither well
 * nor failed: nothing says whether it was through. One in the middle of a task has failed only if ansible-playbook
 * broke off by itself: a run that was canceled, timed out or lost did not fail on it. The caller sends `nudgesOfEnd` afterwards.
 * @param said one line that closes the log as a reader sees it; null shows nothing
 */
export async function endJobRuns(tx: Tx, ids: string[], end: End, said: string | null): Promise<JobRun[]> {
  if (ids.length === 0) return []
  const count = (...results: string[]) =>
    sql`(select count(*) from ${jobRunHosts} h where h.job_run_id = ${jobRuns.id} and ${sql`h.result = any(${sql.param(results)}::text[])`})`
  const runs = await tx
    .update(jobRuns)
    .set({
      finishedAt: sql`now()`,
      touchedAt: sql`now()`,
      waitingSince: null,
      endedBy: end.endedBy,
      exitCode: end.exitCode ?? null,
      error: end.error ?? null,
      midTaskHosts: sql`array(select h.name from ${jobRunHosts} h
        where h.job_run_id = ${jobRuns.id} and h.result = 'RUNNING' and h.current_task is not null order by h.name)`,
      hostsOk: count('OK', 'CHANGED', 'SKIPPED'),
      hostsFailed:
        end.endedBy === 'exit'
          ? sql`(select count(*) from ${jobRunHosts} h where h.job_run_id = ${jobRuns.id}
              and (h.result = 'FAILED' or h.result = 'RUNNING' and h.current_task is not null))`
          : count('FAILED'),
      hostsUnreachable: count('UNREACHABLE'),
      lastSeq: sql`${jobRuns.lastSeq} + 1`,
      lastLine: sql`${jobRuns.lastLine} + ${said === null ? 0 : 1}`,
    })
    .where(isOneOf(jobRuns.id, ids))
    .returning()
  await tx
    .update(jobRunHosts)
    .set({
      result: sql`case when result = 'PENDING' then 'NOT_RUN'
        when current_task is not null and ${end.endedBy === 'exit'} then 'FAILED' else 'INTERRUPTED' end`,
      message: sql`case when result = 'PENDING' then message
        when current_task is null then coalesce(message, 'the run ended before it could be told whether this host was done')
        else coalesce(message, 'the run ended in the middle of this task') end`,
    })
    .where(sql`${isOneOf(jobRunHosts.jobRunId, ids)} and ${jobRunHosts.result} in ('RUNNING', 'PENDING')`)
  await freeNodes(tx, ids)
  await tx.insert(jobRunEvents).values(
    runs.map((run) => ({
      jobRunId: run.id,
      seq: run.lastSeq,
      kind: 'run_end',
      result: { status: run.status, exitCode: run.exitCode, midTaskHosts: run.midTaskHosts },
      stdout: said,
      startLine: said === null ? run.lastLine + 1 : run.lastLine,
      lineCount: said === null ? 0 : 1,
      createdAt: run.finishedAt!,
    })),
  )
  return runs
}

/** What those who look at a run, follow its log or wait for its nodes are to hear once its end is committed. */
export const nudgesOfEnd = ({ id, tenantId, lastSeq }: JobRun): Nudge[] => [
  { topic: 'jobRunEvents', id, tenantId, seq: lastSeq },
  { topic: 'jobRun', id, tenantId },
  { topic: 'nodesFreed', id: tenantId, tenantId },
]
