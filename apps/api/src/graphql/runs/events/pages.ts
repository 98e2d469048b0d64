import { isOneOf } from '@muster/core/db'
import { InvalidInput } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import type { JobRunEvent } from '@muster/core/runs'
import { and, asc, count, desc, eq, getColumns, gt, lt } from 'drizzle-orm'
import type { ApiContext } from '../../../context.ts'
import { loaderWithArgs, type Page } from '../../shared/loaders.ts'

const { jobRunEvents, jobRuns } = schema

const ofHost = (host: string | null) => (host === null ? undefined : eq(jobRunEvents.host, host))

const pages = loaderWithArgs<JobRunEvent[], Page & { host: string | null }>(
  async ({ ctx }, runIds, { after, before, limit, inverted, host }) => {
    const e = ctx.db
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
      .orderBy(inverted ? desc(jobRunEvents.seq) : asc(jobRunEvents.seq))
      .limit(limit)
      .as('e')
    const rows = await ctx.db
      .select(getColumns(e))
      .from(jobRuns)
      .crossJoinLateral(e)
      .where(isOneOf(jobRuns.id, [...runIds]))
      .orderBy(inverted ? desc(e.seq) : asc(e.seq))
    return Map.groupBy(rows, (event) => event.jobRunId)
  },
)

/** A page of the events of a run. @throws InvalidInput for a cursor that is not a seq */
export const eventPage = async (
  context: ApiContext,
  runId: string,
  args: Page & { host: string | null },
): Promise<JobRunEvent[]> => (await pages(context, runId, args)) ?? []

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
