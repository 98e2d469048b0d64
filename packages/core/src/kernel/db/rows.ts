import { and, eq, type InferSelectModel, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Ctx, Tx } from '../context.ts'
import { Conflict, type DomainError, NotFound } from '../errors.ts'
import type { Db } from './client.ts'

/** A table with an ID; without `tenantId` all tenants share its rows. */
type IdTable = PgTable & { id: AnyPgColumn; tenantId?: AnyPgColumn }

/** The tenant condition of every read and write. */
export const visibleTo = (ctx: { tenantId: string }, table: { tenantId: AnyPgColumn }): SQL => eq(table.tenantId, ctx.tenantId)

/** Condition that `column` is one of `values`; binds a single parameter. */
export const isOneOf = (column: AnyPgColumn | SQL, values: string[], type: 'uuid' | 'text' = 'uuid'): SQL =>
  sql`${column} = any(${sql.param(values)}::${sql.raw(type)}[])`

/**
 * The error of a conditional write that matched no row: NotFound when the caller's tenant has no such row, else Conflict
 * with the reason that `why` returns for the current row; null if the row changed concurrently.
 * @param what the object's kind in messages, for example `node`
 */
export async function notFoundOrConflict<T extends IdTable>(
  db: Db | Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  table: T,
  id: string,
  what: string,
  why: (row: InferSelectModel<T>) => string | null,
): Promise<DomainError> {
  const [row] = await db
    .select()
    .from(table as PgTable)
    .where(and(table.tenantId && eq(table.tenantId, ctx.tenantId), eq(table.id, id)))
  if (!row) return new NotFound(`There is no ${what} ${id}.`)
  return new Conflict(why(row as InferSelectModel<T>) ?? changedConcurrently(what, id))
}

/** Message of a conflict with another writer. */
export const changedConcurrently = (what: string, name: string): string =>
  `The ${what} ${name} changed at the same time. Reload it and try again.`

/** The error of an insert or update that violates the unique name of its table. */
export const nameTaken = (what: string, name: string | undefined): Conflict =>
  new Conflict(`There is already a ${what} named ${name}. Choose another name.`)

/** SQLSTATE of a database error or one of its causes; null for other errors. */
export function sqlState(error: unknown): string | null {
  for (let e = error; e instanceof Error; e = e.cause)
    if ('code' in e && typeof e.code === 'string' && /^[0-9A-Z]{5}$/.test(e.code)) return e.code
  return null
}
export const UNIQUE_VIOLATION = '23505'
export const FOREIGN_KEY_VIOLATION = '23503'
