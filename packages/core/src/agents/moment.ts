import { type SQL, sql } from 'drizzle-orm'

/** The database's time, at which the transaction began; in tests a time of their own. */
export const moment = (now?: Date): SQL => (now ? sql`${now.toISOString()}::timestamptz` : sql`now()`)

/** `column` seconds, as an interval. */
export const seconds = (column: SQL | number): SQL => sql`make_interval(secs => ${column})`
