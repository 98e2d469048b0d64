import { sql } from 'drizzle-orm'
import type { Tx } from '../context.ts'
import { jobTemplates } from './tables.ts'

/**
 * The templates that come with the product; their playbooks lie in `playbooks/`. None is idempotent in the sense of the flag: they
 * would do no harm twice, but who asked for a look is to be told that its worker died, and asks again.
 */
export const BUILT_IN_TEMPLATES = [
  {
    name: 'collect_facts',
    displayName: 'Collect facts',
    description: 'Finds out what each node is: system, CPU, memory, disks, network, and its accelerators with their state.',
    category: 'discovery',
    playbookPath: 'collect_facts.yml',
    timeoutSeconds: 1800,
    forks: 50,
    isReadOnly: true,
  },
  {
    name: 'connectivity_check',
    displayName: 'Check connectivity',
    description: 'Logs in to each node and runs a module there: SSH, Python and, with become, privilege escalation work.',
    category: 'discovery',
    playbookPath: 'connectivity_check.yml',
    timeoutSeconds: 600,
    forks: 50,
    isReadOnly: true,
  },
] satisfies (typeof jobTemplates.$inferInsert extends infer T ? Omit<T & object, 'tenantId'> : never)[]

/** Give a tenant the built-in templates as this version of the product has them. Safe to call again. */
export async function syncBuiltInTemplates(tx: Tx, tenantId: string): Promise<void> {
  await tx
    .insert(jobTemplates)
    .values(BUILT_IN_TEMPLATES.map((template) => ({ ...template, tenantId, isSystem: true })))
    .onConflictDoUpdate({
      target: [jobTemplates.tenantId, jobTemplates.name],
      set: Object.fromEntries(
        [
          'display_name',
          'description',
          'category',
          'playbook_path',
          'timeout_seconds',
          'forks',
          'is_idempotent',
          'is_read_only',
          'is_system',
        ].map((column) => [column.replace(/_(.)/g, (_, c: string) => c.toUpperCase()), sql.raw(`excluded.${column}`)]),
      ),
    })
}
