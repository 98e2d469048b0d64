import { sql } from 'drizzle-orm'
import { boolean, bytea, integer, jsonb, smallint, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'

export type Vars = Record<string, unknown>

/** Uploaded playbooks: one immutable archive per row. Equal content of a tenant is stored once. */
export const playbookBundles = snakeCase.table(
  'playbook_bundles',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** File name at the upload. */
    name: text().notNull(),
    sha256: text().notNull(),
    /** Size of the archive in bytes. */
    size: integer().notNull(),
    /** The uploaded archive. Large, so lists never select it. */
    content: bytea().notNull(),
    /** Its files by path. */
    files: jsonb().$type<BundleFile[]>().notNull(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.tenantId, t.sha256)],
)

export type PlaybookBundle = Omit<typeof playbookBundles.$inferSelect, 'content'>

/** `size` in bytes. */
export type BundleFile = { path: string; size: number }

/** Source of a template's playbook: Muster's own playbooks directory, an uploaded bundle, or a Git repository. */
export const PLAYBOOK_SOURCES = ['shipped', 'bundle', 'git'] as const

export type PlaybookSource = (typeof PLAYBOOK_SOURCES)[number]

export const jobTemplates = snakeCase.table(
  'job_templates',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    displayName: text().notNull(),
    description: text().notNull().default(''),
    category: text().notNull(),
    source: text().$type<PlaybookSource>().notNull().default('shipped'),
    bundleId: uuid().references(() => playbookBundles.id),
    gitUrl: text(),
    /** Branch, tag or commit. Each run resolves it to a commit when it starts. */
    gitRef: text(),
    /** Credential of the kind GIT for the repository. Null: the repository is public. */
    gitCredentialId: uuid().references(() => credentials.id),
    /** Relative to the root of its source. */
    playbookPath: text().notNull(),
    become: boolean().notNull().default(false),
    becomeMethod: text().notNull().default('sudo'),
    becomeUser: text().notNull().default('root'),
    timeoutSeconds: integer().notNull().default(3600),
    forks: integer().notNull().default(20),
    /** Number or percentage of hosts per batch: `5`, `30%`, or several, `1,5,30%`. Null: all at once. */
    serial: text(),
    /** The play stops when more than this percentage of hosts failed. Null: never. */
    maxFailPercentage: smallint(),
    /** Run only tasks with one of these tags (`--tags`); empty: all. `tags` are search terms for the template. */
    jobTags: text().array().notNull().default(sql`'{}'::text[]`),
    /** Skip tasks with one of these tags (`--skip-tags`). */
    skipTags: text().array().notNull().default(sql`'{}'::text[]`),
    /** JSON Schema of a run's extra vars. Null: any are valid. */
    inputSchema: jsonb().$type<Vars>(),
    defaultVars: jsonb().$type<Vars>().notNull().default(sql`'{}'::jsonb`),
    tags: text().array().notNull().default(sql`'{}'::text[]`),
    isSystem: boolean().notNull().default(false),
    /** Whether a run may restart automatically after its worker was lost. */
    isIdempotent: boolean().notNull().default(false),
    /** Changes nothing on nodes, so its runs take no locks. */
    isReadOnly: boolean().notNull().default(false),
    /** Increases by one with every change; `job_template_versions` has all versions. */
    version: integer().notNull().default(1),
    archivedAt: at(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)

/** All versions of a template, including the current one. */
export const jobTemplateVersions = snakeCase.table(
  'job_template_versions',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    templateId: uuid()
      .notNull()
      .references(() => jobTemplates.id, { onDelete: 'cascade' }),
    version: integer().notNull(),
    /** All fields that users can set. */
    snapshot: jsonb().$type<TemplateSnapshot>().notNull(),
    /** Why it was changed, as the user wrote it. */
    reason: text(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.templateId, t.version)],
)

export type JobTemplateVersion = typeof jobTemplateVersions.$inferSelect

export type TemplateSnapshot = Omit<
  typeof jobTemplates.$inferSelect,
  'id' | 'tenantId' | 'version' | 'isSystem' | 'archivedAt' | 'createdAt' | 'updatedAt'
>

export type JobTemplate = typeof jobTemplates.$inferSelect
