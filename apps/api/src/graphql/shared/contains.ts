import { type SQL, sql } from 'drizzle-orm'

/** Condition: `column` contains `text`, ignoring case. `%` and `_` are matched literally. */
export const contains = (column: SQL | { getSQL(): SQL }, text: string): SQL =>
  sql`${column} ilike ${`%${text.replace(/[\\%_]/g, '\\$&')}%`}`
