import { index, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { createdAt, id, updatedAt } from '../kernel/db/columns.ts'

/** Fields of an object, each with a digest of the value that the owner applied last. */
export type OwnedFields = Record<string, string>

/** Which owner applied which fields of an object. Objects of all kinds, so the ID has no foreign key; rows of deleted objects are ignored. */
export const manifestObjects = snakeCase.table(
  'manifest_objects',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Name under which manifests were applied. */
    owner: text().notNull(),
    kind: text().notNull(),
    objectId: uuid().notNull(),
    fields: jsonb().$type<OwnedFields>().notNull(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.kind, t.objectId, t.owner), index().on(t.tenantId, t.owner)],
)
export type ManifestObjectRow = typeof manifestObjects.$inferSelect
