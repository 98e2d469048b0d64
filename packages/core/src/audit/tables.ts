import { sql } from 'drizzle-orm'
import { index, jsonb, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { createdAt, id } from '../kernel/db/columns.ts'

/** Who did what to which object, written in the transaction of the change. */
export const auditEntries = snakeCase.table(
  'audit_entries',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** user, token, worker, agent or system. */
    actorKind: text().notNull(),
    actorId: text(),
    actorName: text().notNull(),
    /** `<object>.<verb>`, for example `job_run.cancel`. */
    action: text().notNull(),
    objectId: uuid().notNull(),
    objectName: text(),
    details: jsonb().$type<Record<string, unknown>>().notNull().default(sql`'{}'::jsonb`),
    requestId: text(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.objectId)],
)
