import { type SQL, sql } from 'drizzle-orm'

/** The database's time at the start of the transaction; tests pass their own. */
export const sqlNow = (now?: Date): SQL => (now ? sql`${now.toISOString()}::timestamptz` : sql`now()`)

/** An interval of `column` seconds. */
export const sqlSeconds = (column: SQL | number): SQL => sql`make_interval(secs => ${column})`
