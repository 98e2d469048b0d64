import { index, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { createdAt, id } from '../kernel/db/columns.ts'

/** Idempotency keys of the last days and the results of their first requests. */
export const idempotencyKeys = snakeCase.table(
  'idempotency_keys',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    verb: text().notNull(),
    key: text().notNull(),
    /** Salted hash of the input, to distinguish a repeat from another request. */
    inputHash: text().notNull(),
    /** Reference to the result, such as the ID of its row; null while the first request runs. */
    result: jsonb().$type<unknown>(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.tenantId, t.verb, t.key), index().on(t.createdAt)],
)
