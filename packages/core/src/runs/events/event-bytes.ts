import { type SQL, sql } from 'drizzle-orm'
import { type JobRunEvent, jobRunEvents } from '../tables.ts'

/** Bytes of the columns other than output and result. */
const REST_BYTES = 200

/** Size of an event in a response, in bytes. */
export const eventBytes = (event: JobRunEvent): number =>
  REST_BYTES +
  (event.stdout ? Buffer.byteLength(event.stdout) : 0) +
  (event.result ? Buffer.byteLength(JSON.stringify(event.result)) : 0)

/**
 * Estimates `eventBytes` from what Postgres knows without reading the values: the size of a text, and the compressed size of a result,
 * which has at most 64 KiB.
 */
const estimatedBytes = sql`${REST_BYTES} + coalesce(octet_length(${jobRunEvents.stdout}), 0)
  + least(65536, coalesce(pg_column_size(${jobRunEvents.result}) * 8, 0))`

/** Estimated bytes of the events before this one, in the order of a page. A page is not read further when they exceed its limit. */
export const bytesBefore = (order: SQL): SQL<number> =>
  sql<number>`sum(${estimatedBytes}) over (order by ${order} rows unbounded preceding) - (${estimatedBytes})`.mapWith(Number)

/** The first events that have at most `bytes` bytes, and at least one. */
export function firstBytes(events: JobRunEvent[], bytes: number): JobRunEvent[] {
  let sum = 0
  const end = events.findIndex((event, i) => {
    sum += eventBytes(event)
    return sum > bytes && i > 0
  })
  return end === -1 ? events : events.slice(0, end)
}
