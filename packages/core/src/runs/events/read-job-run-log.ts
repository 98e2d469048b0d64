import { stripVTControlCharacters } from 'node:util'
import { and, asc, eq, getColumns, gt, lte, sql } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, NotFound } from '../../kernel/errors.ts'
import { type JobRun, type JobRunEvent, jobRunEvents, jobRuns } from '../tables.ts'
import { bytesBefore } from './event-bytes.ts'
import { toRunnerEvent } from './runner-event.ts'

const PAGE = 500
const PAGE_BYTES = 4 * 1024 * 1024

/**
 * `text` is plain output, `ansi` adds colors, `ndjson` has one complete event per line. `runner` has the same events in the
 * format of ansible-runner.
 */
export const LOG_FORMATS = ['text', 'ansi', 'ndjson', 'runner'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

const writers: Record<LogFormat, (event: JobRunEvent, run: JobRun) => string> = {
  text: ({ stdout }) => (stdout === null ? '' : `${stripVTControlCharacters(stdout)}\n`),
  ansi: ({ stdout }) => (stdout === null ? '' : `${stdout}\n`),
  ndjson: ({ jobRunId: _, ...event }) => `${JSON.stringify(event)}\n`,
  runner: (event, run) => `${JSON.stringify(toRunnerEvent(event, run))}\n`,
}

/**
 * Streams the current log of a run from its start. One page of events is in memory; the next is read when the consumer has taken
 * it.
 * @throws Conflict when retention removed the log
 * @throws NotFound when the tenant has no such run
 */
export async function readJobRunLog(
  ctx: Pick<Ctx, 'db' | 'tenantId'>,
  idOrNumber: string | number,
  format: LogFormat,
): Promise<AsyncGenerator<string, void>> {
  const [run] = await ctx.db
    .select()
    .from(jobRuns)
    .where(
      and(visibleTo(ctx, jobRuns), typeof idOrNumber === 'number' ? eq(jobRuns.number, idOrNumber) : eq(jobRuns.id, idOrNumber)),
    )
  if (!run) throw new NotFound(`There is no run ${idOrNumber}.`)
  if (run.logRemovedAt) throw new Conflict(logUnavailableReason(run)!)
  return pages(ctx, run, writers[format])
}

/** Null when the run has its log; otherwise the reason why it is missing. */
export const logUnavailableReason = ({ logRemovedAt }: Pick<JobRun, 'logRemovedAt'>): string | null =>
  logRemovedAt && `The log was removed on ${logRemovedAt.toISOString().slice(0, 10)}: it was older than logs are kept.`

async function* pages({ db }: Pick<Ctx, 'db'>, run: JobRun, write: (event: JobRunEvent, run: JobRun) => string) {
  let after = 0
  for (;;) {
    const candidates = db
      .select({ ...getColumns(jobRunEvents), bytesBefore: bytesBefore(sql`${jobRunEvents.seq}`).as('bytes_before') })
      .from(jobRunEvents)
      .where(and(eq(jobRunEvents.jobRunId, run.id), gt(jobRunEvents.seq, after), lte(jobRunEvents.seq, run.lastSeq)))
      .orderBy(asc(jobRunEvents.seq))
      .limit(PAGE)
      .as('page')
    const events: JobRunEvent[] = await db.select().from(candidates).where(lte(candidates.bytesBefore, PAGE_BYTES))
    const text = events.map((event) => write(event, run)).join('')
    if (text) yield text
    const last = events.at(-1)?.seq
    if (last === undefined || last >= run.lastSeq) return
    after = last
  }
}
