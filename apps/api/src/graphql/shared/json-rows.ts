import { type SQL, sql } from 'drizzle-orm'

/** Rows of a subquery as one JSON array, in the order of the subquery. Used in `select: { extras }` for to-many fields without a relation. */
export const jsonRows = <Row>(query: SQL): SQL<Row[]> =>
  sql<Row[]>`(select coalesce(json_agg(row_to_json(r.*)), '[]') from (${query}) r)`
