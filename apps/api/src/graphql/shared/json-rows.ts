import { type SQL, sql } from 'drizzle-orm'

/** The rows of a subquery as one JSON array, in its order: a to-many field that no relation describes, for `select: { extras }`. */
export const jsonRows = <Row>(query: SQL): SQL<Row[]> =>
  sql<Row[]>`(select coalesce(json_agg(row_to_json(r.*)), '[]') from (${query}) r)`
