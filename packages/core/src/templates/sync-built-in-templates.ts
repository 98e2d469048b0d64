import { and, eq, sql } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import { BUILT_IN_TEMPLATES } from './built-in-templates.ts'
import { jobTemplates } from './tables.ts'
import { persistVersions } from './template-versions.ts'

const MUSTER = { actor: { kind: 'system', id: null, name: 'Muster' } } as const

/** Fields of a built-in template that the product sets, as column names. */
const OURS = [
  'display_name',
  'description',
  'category',
  'playbook_path',
  'become',
  'timeout_seconds',
  'forks',
  'input_schema',
  'is_idempotent',
  'is_read_only',
]

/**
 * Creates or updates a tenant's built-in templates to this version of the product. May be repeated. A user's template that has
 * the name of a newer built-in one stays unchanged.
 * @returns the names of added and changed templates
 */
export async function syncBuiltInTemplates(tx: Tx, tenantId: string): Promise<string[]> {
  const columns = (table: string) => sql.raw(`(${OURS.map((column) => `${table}.${column}`).join(', ')})`)
  const rows = await tx
    .insert(jobTemplates)
    .values(BUILT_IN_TEMPLATES.map((template) => ({ ...template, tenantId, isSystem: true })))
    .onConflictDoUpdate({
      target: [jobTemplates.tenantId, jobTemplates.name],
      set: {
        ...Object.fromEntries(
          OURS.map((column) => [column.replace(/_(.)/g, (_, c: string) => c.toUpperCase()), sql.raw(`excluded.${column}`)]),
        ),
        version: sql`${jobTemplates.version} + 1`,
      },
      setWhere: and(eq(jobTemplates.isSystem, true), sql`${columns('job_templates')} is distinct from ${columns('excluded')}`),
    })
    .returning()
  await persistVersions(tx, MUSTER, rows, 'Shipped with this version of Muster.')
  return rows.map((row) => row.name)
}
