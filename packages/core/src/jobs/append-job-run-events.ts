import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../context.ts'
import { Conflict } from '../errors.ts'
import { jobRunEvents, jobRuns } from './tables.ts'

/** An event as a worker reports it; `seq` and line numbers are given by the append. */
export type NewJobRunEvent = {
  kind: string
  host?: string | null
  play?: string | null
  task?: string | null
  taskUuid?: string | null
  action?: string | null
  isChanged?: boolean | null
  durationMs?: number | null
  result?: unknown
  /** Lines joined by \n without a final \n; null when the event shows nothing. */
  stdout?: string | null
  createdAt: Date
}

/** The run is not this worker's any more: it was ended as lost, or given to another. Stop everything and write nothing. */
export class ClaimLost extends Conflict {}

/** JSON that Postgres takes: it stores neither NUL nor halves of surrogate pairs, in keys no more than in values. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === '\\\\' ? found : '\ufffd'))

/**
 * Append events to a run's log, gap-free: one statement moves the run's high-water marks, if `token` is still its claim, and
 * inserts the rows behind them. Readers are nudged afterwards. Calls for one run must not overlap.
 * @param after the run's last seq as this worker knows it. With it a call may be repeated after a lost answer: what was stored
 * already is not stored again.
 * @returns the seq of the last event
 * @throws ClaimLost when the run is over or another worker's
 */
export async function appendJobRunEvents(
  ctx: Ctx,
  { id, token, after, events }: { id: string; token: string; after?: number; events: NewJobRunEvent[] },
): Promise<number> {
  if (events.length === 0) return after ?? 0
  let lines = 0
  const rows = events.map((event, i) => {
    const lineCount = event.stdout == null ? 0 : event.stdout.split('\n').length
    lines += lineCount
    return { ...event, n: i + 1, first: lines - lineCount + 1, lines: lineCount }
  })
  const { rows: written } = await ctx.db.execute<{ seq: string }>(sql`
    with run as (
      update ${jobRuns} set last_seq = last_seq + ${rows.length}, last_line = last_line + ${lines}, touched_at = now()
      where id = ${id} and tenant_id = ${ctx.tenantId} and claim_token = ${token} and finished_at is null
        and ${after === undefined ? sql`true` : sql`last_seq = ${after}`}
      returning last_seq - ${rows.length} as seq, last_line - ${lines} as line
    )
    insert into ${jobRunEvents} (job_run_id, seq, kind, host, play, task, task_uuid, action, is_changed, duration_ms, result,
      stdout, start_line, line_count, created_at)
    select ${id}, run.seq + e.n, e.kind, e.host, e.play, e.task, e."taskUuid", e.action, e."isChanged", e."durationMs", e.result,
      e.stdout, run.line + e.first, e.lines, e."createdAt"
    from run, json_to_recordset(${storableJson(rows)}::json) as e(n int, kind text, host text, play text, task text,
      "taskUuid" text, action text, "isChanged" boolean, "durationMs" int, result jsonb, stdout text, first int, lines int,
      "createdAt" timestamptz)
    returning seq`)
  if (written.length === 0 && !(await isStored(ctx, id, token, after, rows.length)))
    throw new ClaimLost(`The run ${id} is no longer this worker's.`)
  const seq = written.length > 0 ? Math.max(...written.map((row) => Number(row.seq))) : after! + rows.length
  ctx.notify({ topic: 'jobRunEvents', id, tenantId: ctx.tenantId, seq })
  return seq
}

/** Whether an earlier call whose answer was lost has stored these events. */
async function isStored(ctx: Ctx, id: string, token: string, after: number | undefined, count: number): Promise<boolean> {
  if (after === undefined) return false
  const [run] = await ctx.db
    .select({ lastSeq: jobRuns.lastSeq })
    .from(jobRuns)
    .where(and(eq(jobRuns.id, id), eq(jobRuns.claimToken, token)))
  return run?.lastSeq === after + count
}
