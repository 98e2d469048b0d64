import { getColumns, inArray, type SQL } from 'drizzle-orm'
import { type AnyPgColumn, getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import type { Tx } from './client.ts'

type Row = Record<string, unknown>
/** A row before and after the transaction's statements; null: it did not exist. */
export type RecordedChange = { table: PgTable; before: Row | null; after: Row | null }

/** Per table, the rows that statements wrote, as they were before; by primary key. */
type Recording = Map<PgTable, Map<string, Row | null>>
const recordings = new WeakMap<object, Recording>()

// The parts of Drizzle's queries that are used here; none is public.
type Query = {
  config: { table: PgTable; where?: SQL; from?: unknown; withList?: unknown[] }
  execute(...args: unknown[]): Promise<unknown>
  onConflictDoUpdate?: (...args: unknown[]) => Query
}

/**
 * Makes `tx` record which rows its updates, deletes and inserts write, for `recordedChanges`. An update or delete locks and reads
 * its rows first. Not recorded: raw SQL, upserts, updates with FROM, inserts without RETURNING, tables without a primary key of one
 * column.
 * @param parent the transaction of which `tx` is a savepoint
 */
export function recordChanges(tx: Tx, parent: object): Tx {
  const recording: Recording = recordings.get(parent) ?? new Map()
  recordings.set(tx, recording)
  const own = tx as unknown as Record<'update' | 'delete' | 'insert', (table: PgTable) => unknown>
  const { update, delete: remove, insert } = own

  const rowsOf = (table: PgTable) => {
    const rows = recording.get(table) ?? new Map<string, Row | null>()
    recording.set(table, rows)
    return rows
  }
  const recordBefore = (query: Query, lock: 'update' | 'no key update') =>
    beforeExecute(query, async ({ table, where, from, withList }) => {
      const key = keyOf(table)
      if (!key || from || withList?.length) return
      const rows = rowsOf(table)
      for (const row of await tx.select(readable(table)).from(table).where(where).for(lock)) {
        const id = String(row[key.name])
        if (!rows.has(id)) rows.set(id, row)
      }
    })

  own.update = (table) => {
    const builder = update.call(tx, table) as { set(values: unknown): Query }
    const set = builder.set.bind(builder)
    builder.set = (values) => recordBefore(set(values), 'no key update')
    return builder
  }
  own.delete = (table) => recordBefore(remove.call(tx, table) as Query, 'update')
  own.insert = (table) => {
    const builder = insert.call(tx, table) as { values(values: unknown): Query }
    const values = builder.values.bind(builder)
    builder.values = (given) => recordInserted(values(given), rowsOf)
    return builder
  }
  return tx
}

function beforeExecute(query: Query, work: (config: Query['config']) => Promise<void>): Query {
  const execute = query.execute
  query.execute = async (...args) => {
    await work(query.config)
    return execute(...args)
  }
  return query
}

function recordInserted(query: Query, rowsOf: (table: PgTable) => Map<string, Row | null>): Query {
  const { execute, onConflictDoUpdate } = query
  let isUpsert = false
  query.onConflictDoUpdate = (...args) => {
    isUpsert = true
    return onConflictDoUpdate!.apply(query, args)
  }
  query.execute = async (...args) => {
    const result = await execute(...args)
    const key = keyOf(query.config.table)
    if (key && !isUpsert && Array.isArray(result))
      for (const row of result as Row[]) {
        const id = row[key.name]
        const rows = rowsOf(query.config.table)
        if (typeof id === 'string' && !rows.has(id)) rows.set(id, null)
      }
    return result
  }
  return query
}

/** Changes of this transaction to the rows with these primary keys, by key. */
export async function recordedChanges(tx: Tx, ids: string[]): Promise<Map<string, RecordedChange[]>> {
  const found = new Map<string, RecordedChange[]>()
  for (const [table, rows] of recordings.get(tx) ?? []) {
    const written = ids.filter((id) => rows.has(id))
    if (written.length === 0) continue
    const key = keyOf(table)!
    const current = await tx.select(readable(table)).from(table).where(inArray(key.column, written))
    const after = new Map(current.map((row) => [String(row[key.name]), row as Row]))
    for (const id of written)
      found.set(id, [...(found.get(id) ?? []), { table, before: rows.get(id)!, after: after.get(id) ?? null }])
  }
  return found
}

/** The primary key, when it is one column. */
function keyOf(table: PgTable): { name: string; column: AnyPgColumn } | undefined {
  const keys = Object.entries(getColumns(table)).filter(([, column]) => column.primary)
  if (keys.length !== 1 || getTableConfig(table).primaryKeys.length > 0) return undefined
  return { name: keys[0]![0], column: keys[0]![1] }
}

/** All columns except file contents. */
const readable = (table: PgTable) =>
  Object.fromEntries(Object.entries(getColumns(table)).filter(([, column]) => column.getSQLType() !== 'bytea'))
