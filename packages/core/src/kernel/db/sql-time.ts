import { type SQL, sql } from 'drizzle-orm'

/** The database's time, at which the transaction began; in tests a time of their own. */
export const sqlNow = (now?: Date): SQL => (now ? sql`${now.toISOString()}::timestamptz` : sql`now()`)

/** `column` sqlSeconds, as an interval. */
export const sqlSeconds = (column: SQL | number): SQL => sql`make_interval(secs => ${column})`
