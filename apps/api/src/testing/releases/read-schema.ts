import type { TestRuntime } from '@muster/core/testing'
import { sql } from 'drizzle-orm'

/** The parts of a schema that a fresh and an upgraded database must share; each query returns one text per object. */
const PARTS: Record<string, string> = {
  columns: `select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as text
    from information_schema.columns where table_schema = 'public'`,
  constraints: `select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) as text
    from pg_constraint where connamespace = 'public'::regnamespace`,
  indexes: `select indexdef as text from pg_indexes where schemaname = 'public'`,
  rowSecurity: `select format('%s %s %s', relname, relrowsecurity, relforcerowsecurity) as text
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  policies: `select format('%s %s %s %s %s %s', tablename, policyname, roles, cmd, qual, with_check) as text
    from pg_policies where schemaname = 'public'`,
  grants: `select format('%s %s %s', table_name, grantee, privilege_type) as text
    from information_schema.table_privileges where table_schema = 'public'`,
  functions: `select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f'`,
}

/** Describes the schema `public`, without the partitions, which depend on the date. */
export async function readSchema({ runtime }: TestRuntime): Promise<Record<string, string[]>> {
  const parts: Record<string, string[]> = {}
  for (const [name, query] of Object.entries(PARTS)) {
    const { rows } = await runtime.db.execute<{ text: string }>(sql.raw(query))
    parts[name] = rows
      .map(({ text }) => text)
      .filter((text) => !/agent_heartbeat_history_\d/.test(text))
      .sort()
  }
  return parts
}
