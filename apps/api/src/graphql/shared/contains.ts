import { type SQL, sql } from 'drizzle-orm'

/** Condition that `text` stands in what `column` holds, whatever the case; % and _ mean themselves. */
export const contains = (column: SQL | { getSQL(): SQL }, text: string): SQL =>
  sql`${column} ilike ${`%${text.replace(/[\\%_]/g, '\\$&')}%`}`
