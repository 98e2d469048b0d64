import { and, eq, type InferSelectModel, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Ctx, Tx } from '../context.ts'
import { Conflict, type DomainError, NotFound } from '../errors.ts'
import type { Db } from './client.ts'

type TenantTable = PgTable & { id: AnyPgColumn; tenantId: AnyPgColumn }

/** The condition that belongs into every read and write: the row is the caller's tenant's. */
export const visibleTo = (ctx: { tenantId: string }, table: { tenantId: AnyPgColumn }): SQL => eq(table.tenantId, ctx.tenantId)

/** `column` is one of `values`, as one parameter however many they are. */
export const isOneOf = (column: AnyPgColumn, values: string[], type: 'uuid' | 'text' = 'uuid'): SQL =>
  sql`${column} = any(${sql.param(values)}::${sql.raw(type)}[])`

/**
 * Why a conditional write matched no row: NotFound when there is none in the caller's tenant, else Conflict with what `why`
 * says of the row as it is now (it may have changed in the meantime, hence the fallback).
 * @param what how messages call such an object, for example `node`
 */
export async function notFoundOrConflict<T extends TenantTable>(
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
    .where(and(visibleTo(ctx, table), eq(table.id, id)))
  if (!row) return new NotFound(`There is no ${what} ${id}.`)
  return new Conflict(why(row as InferSelectModel<T>) ?? `The ${what} changed at the same moment; look at it and try again.`)
}

/** SQLSTATE of a database error, however deep it is wrapped; null when it is none. */
export function sqlState(error: unknown): string | null {
  for (let e = error; e instanceof Error; e = e.cause)
    if ('code' in e && typeof e.code === 'string' && /^[0-9A-Z]{5}$/.test(e.code)) return e.code
  return null
}
export const UNIQUE_VIOLATION = '23505'
export const FOREIGN_KEY_VIOLATION = '23503'
