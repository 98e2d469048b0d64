import { getColumns, type InferInsertModel, type InferSelectModel, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { whileWaiting } from '../while-waiting.ts'
import type { Db, Tx } from './client.ts'

/** The JSON of the next statement is made while the database executes one. */
const ROWS_PER_STATEMENT = 2500

/**
 * Inserts many rows as one JSON parameter per statement: building a statement with a parameter per value takes most of the time for
 * thousands of rows. Columns that a row leaves out get their default. `recordChanges` does not record these rows, so the caller passes
 * the changes to `audit`.
 * @returns the given columns of the inserted rows; without conflicts, all rows
 */
export async function insertRows<T extends PgTable, const K extends keyof InferSelectModel<T> & string = never>(
  db: Db | Tx,
  table: T,
  rows: InferInsertModel<T>[],
  { skipConflicts = false, returning = [] }: { skipConflicts?: boolean; returning?: readonly K[] } = {},
): Promise<Pick<InferSelectModel<T>, K>[]> {
  const columns = getColumns(table)
  const presets = Object.entries(columns).flatMap(([key, { defaultFn }]) => (defaultFn ? [{ key, defaultFn }] : []))
  const records = rows.map((row) => {
    const record: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(row as Record<string, unknown>))
      if (value !== undefined) record[columns[key]!.name] = value
    for (const { key, defaultFn } of presets) record[columns[key]!.name] ??= defaultFn()
    return record
  })
  const inserted: Pick<InferSelectModel<T>, K>[] = []
  for (const alike of Map.groupBy(records, (record) => Object.keys(record).toSorted().join()).values()) {
    const names = sql.join(Object.keys(alike[0]!).map(sql.identifier), sql`, `)
    const wanted = returning.map((key) => sql`${sql.identifier(columns[key]!.name)} as ${sql.identifier(key)}`)
    const insert = (json: string) =>
      db.execute(sql`insert into ${table} (${names})
        select ${names} from json_populate_recordset(null::${table}, ${json}::json)
        ${skipConflicts ? sql`on conflict do nothing` : sql``} ${wanted.length > 0 ? sql`returning ${sql.join(wanted, sql`, `)}` : sql``}`)
    const jsonFrom = (from: number) => JSON.stringify(alike.slice(from, from + ROWS_PER_STATEMENT))
    let json = jsonFrom(0)
    for (let from = 0; from < alike.length; from += ROWS_PER_STATEMENT) {
      const [{ rows }, next] = await whileWaiting(insert(json), () => jsonFrom(from + ROWS_PER_STATEMENT))
      json = next
      inserted.push(...(rows as never[]))
    }
  }
  return inserted
}
