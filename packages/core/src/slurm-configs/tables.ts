import type { ConfigFiles, ConfigSettings, SnippetFiles } from '@muster/slurm/config'
import { sql } from 'drizzle-orm'
import { integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { createdAt, id, updatedAt } from '../kernel/db/columns.ts'

/** How a version came to be. */
export const CONFIG_ORIGINS = [
  'IMPORTED',
  'CREATED',
  'EDITED',
  'SCALED_OUT',
  'SCALED_IN',
  'RESTORED',
  'SNIPPETS',
  'POWER_SAVING',
] as const
export type ConfigOrigin = (typeof CONFIG_ORIGINS)[number]

/** Versions of the configuration files of clusters. A version never changes. */
export const slurmConfigVersions = snakeCase.table(
  'slurm_config_versions',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    clusterId: uuid()
      .notNull()
      .references(() => slurmClusters.id, { onDelete: 'cascade' }),
    /** From 1, per cluster. */
    number: integer().notNull(),
    files: jsonb().$type<ConfigFiles>().notNull(),
    /** Names of the snippets that the files have lines of. */
    snippets: text().array().notNull().default(sql`'{}'::text[]`),
    /** What the files were rendered from; null for text. */
    settings: jsonb().$type<ConfigSettings>(),
    origin: text().$type<ConfigOrigin>().notNull(),
    /** The version that was changed; null for the first one. */
    basedOn: integer(),
    reason: text().notNull(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.clusterId, t.number)],
)
export type SlurmConfigVersion = typeof slurmConfigVersions.$inferSelect

/** Lines of configuration files for several clusters. Versions contain the lines between two comments with the name. */
export const slurmConfigSnippets = snakeCase.table(
  'slurm_config_snippets',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Unique in the tenant; never changes. */
    name: text().notNull(),
    /** Counts the changes, from 1. */
    version: integer().notNull().default(1),
    files: jsonb().$type<SnippetFiles>().notNull(),
    /** Selected clusters, which may include removed ones, and regions with all of their clusters. */
    clusterIds: uuid().array().notNull(),
    regions: text().array().notNull().default(sql`'{}'::text[]`),
    createdById: userRef(),
    createdByName: text().notNull(),
    updatedById: userRef(),
    updatedByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)
export type SlurmConfigSnippet = typeof slurmConfigSnippets.$inferSelect
