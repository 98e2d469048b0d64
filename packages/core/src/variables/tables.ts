import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, snakeCase, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

export type Vars = Record<string, unknown>
/** Variable name -> id of the `variable_secrets` row with its value. */
export type SecretRefs = Record<string, string>

/** Variables of one scope: a group, a node, or with neither all nodes. Without a row, none were ever set. */
export const variableScopes = snakeCase.table(
  'variable_scopes',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    groupId: uuid()
      .unique()
      .references(() => nodeGroups.id, { onDelete: 'cascade' }),
    nodeId: uuid()
      .unique()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    /** YAML or JSON as the user typed it, including comments. */
    source: text().notNull().default(''),
    /** The parsed source. */
    vars: jsonb().$type<Vars>().notNull().default(sql`'{}'::jsonb`),
    secrets: jsonb().$type<SecretRefs>().notNull().default(sql`'{}'::jsonb`),
    /** Increases by one with every change; `variable_versions` has all versions. */
    version: integer().notNull().default(1),
    updatedById: userRef(),
    updatedByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    uniqueIndex('variable_scopes_one_global').on(t.tenantId).where(sql`group_id is null and node_id is null`),
    index().on(t.tenantId),
    check('variable_scopes_one_place', sql`num_nonnulls(${t.groupId}, ${t.nodeId}) <= 1`),
  ],
)
export type VariableScope = typeof variableScopes.$inferSelect

/** All versions of a scope's variables, including the current one. */
export const variableVersions = snakeCase.table(
  'variable_versions',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    scopeId: uuid()
      .notNull()
      .references(() => variableScopes.id, { onDelete: 'cascade' }),
    version: integer().notNull(),
    source: text().notNull(),
    vars: jsonb().$type<Vars>().notNull(),
    secrets: jsonb().$type<SecretRefs>().notNull(),
    /** Why it was changed, as the user wrote it. */
    reason: text(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.scopeId, t.version)],
)
export type VariableVersion = typeof variableVersions.$inferSelect

/**
 * All values that secret variables ever had, so that an older version can be restored. Rows change only when they are
 * re-encrypted.
 */
export const variableSecrets = snakeCase.table(
  'variable_secrets',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    scopeId: uuid()
      .notNull()
      .references(() => variableScopes.id, { onDelete: 'cascade' }),
    /** Name of the variable. */
    name: text().notNull(),
    encrypted: jsonb().$type<{ value: string }>().notNull(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.scopeId)],
)
