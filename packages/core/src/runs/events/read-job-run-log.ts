import { stripVTControlCharacters } from 'node:util'
import { and, asc, eq, gt, lte } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, NotFound } from '../../kernel/errors.ts'
import { type JobRun, type JobRunEvent, jobRunEvents, jobRuns } from '../tables.ts'
import { toRunnerEvent } from './runner-event.ts'

const PAGE = 500

/**
 * `text` as a terminal without colours would show it, `ansi` with them, `ndjson` one event a line with all that is known of it,
 * `runner` the same as ansible-runner writes its job events.
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
 * A run's log as it is now, from its beginning, piece by piece: as much as one page of events is in memory, and the next is read
 * when the last has been taken.
 * @throws Conflict when the log was removed by retention
 * @throws NotFound when the tenant has no such run
 */
export async function readJobRunLog(
  ctx: Pick<Ctx, 'db' | 'tenantId'>,
  id: string,
  format: LogFormat,
): Promise<AsyncGenerator<string, void>> {
  const [run] = await ctx.db
    .select()
    .from(jobRuns)
    .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id)))
  if (!run) throw new NotFound(`There is no run ${id}.`)
  if (run.logRemovedAt) throw new Conflict(logUnavailableReason(run)!)
  return pages(ctx, run, writers[format])
}

/** Null when the run has its log, else what became of it. */
export const logUnavailableReason = ({ logRemovedAt }: Pick<JobRun, 'logRemovedAt'>): string | null =>
  logRemovedAt && `The log was removed on ${logRemovedAt.toISOString().slice(0, 10)}: it was older than logs are kept.`

async function* pages({ db }: Pick<Ctx, 'db'>, run: JobRun, write: (event: JobRunEvent, run: JobRun) => string) {
  let after = 0
  for (;;) {
    const events = await db
      .select()
      .from(jobRunEvents)
      .where(and(eq(jobRunEvents.jobRunId, run.id), gt(jobRunEvents.seq, after), lte(jobRunEvents.seq, run.lastSeq)))
      .orderBy(asc(jobRunEvents.seq))
      .limit(PAGE)
    const text = events.map((event) => write(event, run)).join('')
    if (text) yield text
    if (events.length < PAGE) return
    after = events.at(-1)!.seq
  }
}
