import { and, eq, sql } from 'drizzle-orm'
import { batch } from '../../kernel/batch.ts'
import type { Ctx } from '../../kernel/context.ts'
import { authorize } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { Conflict } from '../../kernel/errors.ts'
import { jobRunEventsAppended } from '../change-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { jobRunEvents, jobRuns } from '../tables.ts'

/** An event as a worker reports it. The append assigns `seq` and line numbers. */
export type NewJobRunEvent = {
  /** One of JOB_RUN_EVENT_KINDS. */
  kind: string
  host?: string | null
  play?: string | null
  task?: string | null
  taskUuid?: string | null
  action?: string | null
  isChanged?: boolean | null
  durationMs?: number | null
  result?: unknown
  /** Lines joined by \n without a final \n; null when the event has no output. */
  stdout?: string | null
  /** By the worker's clock. */
  createdAt: Date
}

/** The claim is no longer valid: the run ended, or another worker has it. The worker must stop and write nothing. */
export class ClaimLost extends Conflict {}

/** JSON that Postgres accepts. Postgres stores neither NUL nor unpaired surrogates, in keys or in values. */
export const sanitizeJsonForPostgres = (value: unknown): string =>
  JSON.stringify(value).replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === '\\\\' ? found : '\ufffd'))

type Append = { tenantId: string; id: string; token: string; after?: number | undefined; events: NewJobRunEvent[] }

const RUNS_PER_STATEMENT = 100
/** Interval between statements. A statement costs as much as tens of rows. */
const STATEMENT_EVERY_MS = 12
const appenders = new WeakMap<Db, (append: Append) => Promise<number | null>>()

/**
 * Appends events to a run's log without gaps. One statement checks `token`, raises the run's high-water marks and inserts the
 * rows. Concurrent appends to different runs share that statement. A change event notifies readers after the commit. Calls for
 * one run must not overlap.
 * @param after the run's last seq known to the worker. With it, a call may be repeated after a lost answer and stores nothing
 * twice.
 * @returns the seq of the last event
 * @throws ClaimLost when the run ended or another worker has it
 */
export async function appendJobRunEvents(
  ctx: Ctx,
  { id, token, after, events }: { id: string; token: string; after?: number; events: NewJobRunEvent[] },
): Promise<number> {
  authorize(ctx, jobRunPermissions.report)
  if (events.length === 0) return after ?? 0
  const append =
    appenders.get(ctx.db) ?? batch((appends: Append[]) => insert(ctx.db, appends), RUNS_PER_STATEMENT, STATEMENT_EVERY_MS)
  appenders.set(ctx.db, append)
  const written = await append({ tenantId: ctx.tenantId, id, token, after, events })
  if (written === null && !(await isStored(ctx, id, token, after, events.length)))
    throw new ClaimLost(`The run ${id} is no longer this worker's.`)
  const seq = written ?? after! + events.length
  ctx.notify(jobRunEventsAppended({ id, tenantId: ctx.tenantId, seq }))
  return seq
}

/**
 * Does not update `worker_seen_at`: the worker renews its claim separately, and an update here would add an entry to every index.
 * Sets `hosts_ok` because the generated status depends on it. Postgres 18 otherwise reads the generated expression again for
 * every row, which doubles the cost of the update.
 * @returns the last seq of each run; null where the claim or `after` did not match and nothing was written
 */
async function insert(db: Db, appends: Append[]): Promise<(number | null)[]> {
  const runs = appends.map(({ events: _, ...run }) => ({ ...run, rows: 0, lines: 0 }))
  const rows = appends.flatMap(({ id, events }, i) =>
    events.map((event) => {
      const run = runs[i]!
      const lineCount = event.stdout == null ? 0 : event.stdout.split('\n').length
      const row = { ...event, id, n: ++run.rows, first: run.lines + 1, lines: lineCount }
      run.lines += lineCount
      return row
    }),
  )
  const { rows: written } = await db.execute<{ id: string; seq: string }>(sql`
    with run as (
      update ${jobRuns} r set last_seq = last_seq + a.rows, last_line = last_line + a.lines, hosts_ok = hosts_ok
      from json_to_recordset(${JSON.stringify(runs)}::json) as a(id uuid, "tenantId" uuid, token uuid, after bigint, rows int, lines int)
      where r.id = a.id and r.tenant_id = a."tenantId" and r.claim_token = a.token and r.finished_at is null
        and (a.after is null or r.last_seq = a.after)
      returning r.id, r.last_seq, r.last_seq - a.rows as seq, r.last_line - a.lines as line
    ), inserted as (
      insert into ${jobRunEvents} (job_run_id, seq, kind, host, play, task, task_uuid, action, is_changed, duration_ms, result,
        stdout, start_line, line_count, created_at)
      select run.id, run.seq + e.n, e.kind, e.host, e.play, e.task, e."taskUuid", e.action, e."isChanged", e."durationMs", e.result,
        e.stdout, run.line + e.first, e.lines, e."createdAt"
      from run join json_to_recordset(${sanitizeJsonForPostgres(rows)}::json) as e(id uuid, n int, kind text, host text, play text, task text,
        "taskUuid" text, action text, "isChanged" boolean, "durationMs" int, result jsonb, stdout text, first int, lines int,
        "createdAt" timestamptz) on e.id = run.id
    ) select id, last_seq as seq from run`)
  const seqs = new Map(written.map((row) => [row.id, Number(row.seq)]))
  return appends.map(({ id }) => seqs.get(id) ?? null)
}

/** Whether an earlier call stored these events and its answer was lost. */
async function isStored(ctx: Ctx, id: string, token: string, after: number | undefined, count: number): Promise<boolean> {
  if (after === undefined) return false
  const [run] = await ctx.db
    .select({ lastSeq: jobRuns.lastSeq })
    .from(jobRuns)
    .where(and(eq(jobRuns.id, id), eq(jobRuns.claimToken, token)))
  return run?.lastSeq === after + count
}
