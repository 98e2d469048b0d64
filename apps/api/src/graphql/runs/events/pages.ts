import { isOneOf } from '@muster/core/db'
import { InvalidInput } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { bytesBefore, eventBytes, firstBytes, type JobRunEvent } from '@muster/core/runs'
import { and, asc, count, desc, eq, getColumns, gt, lt, lte, sql } from 'drizzle-orm'
import type { ApiContext } from '../../../context.ts'
import { countBytes, MAX_PAGE_BYTES, MAX_RESPONSE_BYTES } from '../../../limits.ts'
import { loaderWithArgs, type Page } from '../../shared/loaders.ts'

const { jobRunEvents, jobRuns } = schema

const ofHost = (host: string | null) => (host === null ? undefined : eq(jobRunEvents.host, host))

type EventPage = {
  events: JobRunEvent[]
  /** Whether the page ends early because its events are large. */
  isCut: boolean
}

const pages = loaderWithArgs<EventPage, Page & { host: string | null }>(
  async ({ ctx }, runIds, { after, before, limit, inverted, host }) => {
    const order = inverted ? desc(jobRunEvents.seq) : asc(jobRunEvents.seq)
    const e = ctx.db
      .select({
        ...getColumns(jobRunEvents),
        bytesBefore: bytesBefore(order).as('bytes_before'),
        count: sql<number>`count(*) over ()`.mapWith(Number).as('page_count'),
      })
      .from(
        ctx.db
          .select()
          .from(jobRunEvents)
          .where(
            and(
              eq(jobRunEvents.jobRunId, jobRuns.id),
              ofHost(host),
              after === undefined ? undefined : gt(jobRunEvents.seq, seqOf(after, 'after')),
              before === undefined ? undefined : lt(jobRunEvents.seq, seqOf(before, 'before')),
            ),
          )
          .orderBy(order)
          .limit(limit)
          .as('job_run_events'),
      )
      .as('e')
    // The events of many runs share one statement, so each page may have fewer bytes.
    const bytes = Math.min(MAX_PAGE_BYTES, MAX_RESPONSE_BYTES / runIds.length)
    const rows = await ctx.db
      .select(e._.selectedFields)
      .from(jobRuns)
      .crossJoinLateral(e)
      .where(and(isOneOf(jobRuns.id, [...runIds]), lte(e.bytesBefore, bytes)))
      .orderBy(inverted ? desc(e.seq) : asc(e.seq))
    const byRun = Map.groupBy(rows, (event) => event.jobRunId)
    return new Map(
      [...byRun].map(([id, found]) => {
        const events = firstBytes(found, bytes)
        return [id, { events, isCut: events.length < found[0]!.count }]
      }),
    )
  },
)

/** A page of the events of a run. @throws InvalidInput for a cursor that is not a seq; LimitError */
export async function eventPage(context: ApiContext, runId: string, args: Page & { host: string | null }): Promise<EventPage> {
  const page = (await pages(context, runId, args)) ?? { events: [], isCut: false }
  countBytes(
    context,
    page.events.reduce((sum, event) => sum + eventBytes(event), 0),
  )
  return page
}

const counts = loaderWithArgs<number, { host: string | null }>(async ({ ctx }, runIds, { host }) => {
  const rows = await ctx.db
    .select({ id: jobRunEvents.jobRunId, count: count() })
    .from(jobRunEvents)
    .where(and(isOneOf(jobRunEvents.jobRunId, [...runIds]), ofHost(host)))
    .groupBy(jobRunEvents.jobRunId)
  return new Map(rows.map((row) => [row.id, row.count]))
})

/** Number of events of a run; with a host, only its events. */
export const countEvents = async (context: ApiContext, runId: string, host: string | null): Promise<number> =>
  (await counts(context, runId, { host })) ?? 0

/** The seq that is a cursor of an event. @throws InvalidInput */
function seqOf(cursor: string, path: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw new InvalidInput([{ path, message: 'must be the cursor or the seq of an event' }])
  return Number(cursor)
}
