import { sql } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import { type HostResult, jobRunEvents } from '../tables.ts'
import { failureSignature } from './failure-signature.ts'

/** Hosts with the same result of a task. */
export type MatrixCell = {
  result: HostResult
  /** The task failed and the play continued. */
  isIgnored: boolean
  /** Failure message of the first of these hosts. The others differ at most in numbers, names and similar parts. */
  message: string | null
  hosts: string[]
  /** Longest duration on one of them, in ms. */
  maxDurationMs: number | null
}
export type MatrixTask = { play: string | null; task: string | null; action: string | null; cells: MatrixCell[] }

type Row = Omit<MatrixTask, 'cells'> & {
  runId: string
  uuid: string
  kind: string
  isChanged: boolean
  isIgnored: boolean
  message: string | null
  hosts: string[]
  maxDurationMs: number | null
}

const RESULT: Record<string, HostResult> = { failed: 'FAILED', unreachable: 'UNREACHABLE', skipped: 'SKIPPED' }

// Some messages of Ansible only refer to other output. In that case the last line of that output has the cause.
const MESSAGE = sql`case
  when result->>'msg' ~* 'non-zero return code|stdout/stderr|module failure' then concat_ws(': ', result->>'msg',
    nullif(split_part(rtrim(coalesce(nullif(result->>'stderr', ''), result->>'module_stderr', result->>'stdout', ''), E'\\n'), E'\\n', -1), ''))
  else coalesce(result->>'msg', stdout) end`

/** Results of each task of these runs by run ID, in the order in which tasks started. Hosts with the same result share a cell. */
export async function runMatrices(ctx: Ctx, runIds: string[]): Promise<Map<string, MatrixTask[]>> {
  // The database groups the hosts, so a thousand successful hosts are one row per task.
  const { rows } = await ctx.db.execute<Row>(sql`
    select "runId", play, task, action, uuid, kind, "isChanged", "isIgnored", message, array_agg(host order by seq) as hosts,
      max(duration_ms) as "maxDurationMs"
    from (
      select job_run_id as "runId", seq, play, task, action, task_uuid as uuid, kind, host, duration_ms, coalesce(is_changed, false) as "isChanged",
        kind in ('failed', 'unreachable') and coalesce((result->>'_muster_ignored')::boolean, false) as "isIgnored",
        case when kind in ('failed', 'unreachable') then left(${MESSAGE}, 500) end as message,
        min(seq) over (partition by job_run_id, task_uuid) as began
      from ${jobRunEvents}
      where ${isOneOf(jobRunEvents.jobRunId, runIds)} and kind in ('ok', 'failed', 'unreachable', 'skipped') and host is not null
    ) e
    group by "runId", began, play, task, action, uuid, kind, "isChanged", "isIgnored", message
    order by began, min(seq)`)
  const byRun = Map.groupBy(rows, ({ runId }) => runId)
  return new Map([...byRun].map(([runId, ofRun]) => [runId, tasksOf(ofRun)]))
}

function tasksOf(rows: Row[]): MatrixTask[] {
  const tasks: { task: MatrixTask; hosts: Set<string>; uuids: Set<string> }[] = []
  for (const row of rows) {
    // Ansible creates some tasks again for each batch of hosts, for example fact gathering. The matrix shows them as one task.
    const known = tasks.find(
      ({ task, uuids, hosts }) =>
        uuids.has(row.uuid) ||
        (task.play === row.play && task.task === row.task && task.action === row.action && row.hosts.every((h) => !hosts.has(h))),
    )
    const entry = known ?? {
      task: { play: row.play, task: row.task, action: row.action, cells: [] },
      hosts: new Set(),
      uuids: new Set(),
    }
    if (!known) tasks.push(entry)
    entry.uuids.add(row.uuid)
    for (const host of row.hosts) entry.hosts.add(host)
    addCell(entry.task.cells, row)
  }
  return tasks.map(({ task }) => task)
}

function addCell(cells: MatrixCell[], { kind, isChanged, isIgnored, message, hosts, maxDurationMs }: Row): void {
  const result = RESULT[kind] ?? (isChanged ? 'CHANGED' : 'OK')
  const essence = (text: string | null, names: string[]) => text && failureSignature(text, names)
  const same = cells.find(
    (cell) =>
      cell.result === result &&
      cell.isIgnored === isIgnored &&
      essence(cell.message, cell.hosts.slice(0, 1)) === essence(message, hosts.slice(0, 1)),
  )
  if (!same) return void cells.push({ result, isIgnored, message, hosts: [...hosts], maxDurationMs })
  same.hosts.push(...hosts)
  same.maxDurationMs = Math.max(same.maxDurationMs ?? 0, maxDurationMs ?? 0)
}
