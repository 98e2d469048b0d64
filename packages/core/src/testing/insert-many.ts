import type { InferInsertModel } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../kernel/db/client.ts'
import { insertRows } from '../kernel/db/insert-rows.ts'

/** Inserts rows without the verbs, so callers keep invariants such as gap-free sequences themselves. */
export async function insertMany<T extends PgTable>(db: Db, table: T, rows: InferInsertModel<T>[]): Promise<void> {
  await insertRows(db, table, rows)
}
