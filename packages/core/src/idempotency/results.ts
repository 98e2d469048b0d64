import { and, type InferSelectModel } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import type { ResultStore } from './idempotent.ts'

type TenantTable = PgTable & { id: AnyPgColumn; tenantId: AnyPgColumn }
type Row<T extends TenantTable> = InferSelectModel<T> & { id: string }

/** Results that are rows of `table`, in their order. */
export const rows = <T extends TenantTable>(table: T): ResultStore<Row<T>[]> => ({
  store: (result) => result.map(({ id }) => id),
  async load(tx, ctx, stored) {
    const ids = stored as string[]
    const found = (await tx
      .select()
      .from(table as PgTable)
      .where(and(visibleTo(ctx, table), isOneOf(table.id, ids)))) as Row<T>[]
    const byId = new Map(found.map((row) => [row.id, row]))
    return byId.size === ids.length ? ids.map((id) => byId.get(id)!) : undefined
  },
})

/** A result that is one row of `table`. */
export const oneRow = <T extends TenantTable>(table: T): ResultStore<Row<T>> => ({
  store: ({ id }) => [id],
  load: async (tx, ctx, stored) => (await rows(table).load(tx, ctx, stored))?.[0],
})

/** A result with a secret that cannot be shown again: a repeat is a Conflict with `message`. */
export const shownOnce = <T>(message: string): ResultStore<T> => ({
  store: () => null,
  load: async () => {
    throw new Conflict(message)
  },
})
