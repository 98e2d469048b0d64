import { sql } from 'drizzle-orm'
import { boolean, bytea, integer, jsonb, smallint, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'

export type Vars = Record<string, unknown>

/** Playbooks that somebody uploaded: one archive, never changed. The same content of a tenant is kept once. */
export const playbookBundles = snakeCase.table(
  'playbook_bundles',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** The file's name when it was uploaded. */
    name: text().notNull(),
    sha256: text().notNull(),
    /** Of the archive, in bytes. */
    size: integer().notNull(),
    /** The archive as it was uploaded. Large: never selected along with the rest. */
    content: bytea().notNull(),
    /** What is in it, by path. */
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

/** Where a template's playbook comes from: Muster's own playbooks directory, an uploaded bundle, or a git repository. */
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
    /** Branch, tag or commit; each run uses the commit that it names when the run begins. */
    gitRef: text(),
    /** Of the kind GIT: what opens the repository. Null: anybody can read it. */
    gitCredentialId: uuid().references(() => credentials.id),
    /** Relative to the root of its source. */
    playbookPath: text().notNull(),
    become: boolean().notNull().default(false),
    becomeMethod: text().notNull().default('sudo'),
    becomeUser: text().notNull().default('root'),
    timeoutSeconds: integer().notNull().default(3600),
    forks: integer().notNull().default(20),
    /** Hosts at a time, as Ansible takes it: `5`, `30%`, or several joined by commas, `1,5,30%`. Null: all at once. */
    serial: text(),
    /** The play ends when more than this share of the hosts has failed, in %. Null: never. */
    maxFailPercentage: smallint(),
    /** Only tasks with one of these tags are run (`--tags`); empty: all. `tags` are words to find the template by. */
    jobTags: text().array().notNull().default(sql`'{}'::text[]`),
    /** Tasks with one of these tags are left out (`--skip-tags`). */
    skipTags: text().array().notNull().default(sql`'{}'::text[]`),
    /** JSON Schema of the extra vars that a run may be given. Null: anything goes. */
    inputSchema: jsonb().$type<Vars>(),
    defaultVars: jsonb().$type<Vars>().notNull().default(sql`'{}'::jsonb`),
    tags: text().array().notNull().default(sql`'{}'::text[]`),
    isSystem: boolean().notNull().default(false),
    /** Whether a run whose worker died may be started again by itself. */
    isIdempotent: boolean().notNull().default(false),
    /** Changes nothing on a node, so its runs need not wait for others there. */
    isReadOnly: boolean().notNull().default(false),
    /** Goes up by one with every change; `job_template_versions` has what each was. */
    version: integer().notNull().default(1),
    archivedAt: at(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)

/** What a template was at each of its versions, the present one included. */
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
    /** All that can be set of it. */
    snapshot: jsonb().$type<TemplateSnapshot>().notNull(),
    /** Why it was changed, in the words of who did. */
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
