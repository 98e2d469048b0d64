import pg from 'pg'
import { rulesId } from './role-urls.ts'
import { TENANT_SETTING } from './tenant-query.ts'

/** The caller's tenant in a policy; null when no tenant is set. As a subquery it is evaluated once per statement, not for each row. */
export const CURRENT_TENANT = `(select nullif(current_setting('${TENANT_SETTING}', true), '')::uuid)`

const OF_LEDGER = { app: 'select', policy: `tenant_id = ${CURRENT_TENANT}` }

/** Tables without a tenant of their own: the application's rights, a policy if it sees only some rows, and why. */
export const OTHER_TABLES: Record<string, { app: string; policy?: string; reason: string }> = {
  tenants: {
    app: 'select, update',
    policy: `id = ${CURRENT_TENANT}`,
    reason: 'Each row is a tenant; the caller sees their own.',
  },
  users: {
    app: 'select',
    policy: 'exists (select from members m where m.user_id = users.id)',
    reason: 'A user may belong to several tenants; the caller sees users of their tenant. Sign-in uses the system role.',
  },
  accounts: { app: '', reason: 'Passwords of users. Only sign-in reads them, with the system role.' },
  sessions: {
    app: 'select',
    policy: 'exists (select from members m where m.user_id = sessions.user_id)',
    reason: 'Sessions of users, with hashed tokens. The caller lists their own; sign-in changes them with the system role.',
  },
  device_authorizations: {
    app: '',
    reason: 'Sign-ins of programs before somebody approves them. Only sign-in uses them, with the system role.',
  },
  passkeys: {
    app: 'select',
    policy: 'exists (select from members m where m.user_id = passkeys.user_id)',
    reason: 'Passkeys of users. The caller lists their own; sign-in changes them with the system role.',
  },
  sign_in_attempts: { app: '', reason: 'Failed attempts by account and address. Only sign-in uses them, with the system role.' },
  audit_checkpoints: {
    app: 'select',
    policy: `tenant_id = ${CURRENT_TENANT}`,
    reason: 'Signed checkpoints of the audit log. Only the reconciler that seals the log adds them.',
  },
  ledger_entries: { ...OF_LEDGER, reason: 'The ledger is append-only. Only the reconciler that records nodes adds entries.' },
  ledger_hashes: { ...OF_LEDGER, reason: 'Hashes of the ledger. Only the reconciler that records nodes adds them.' },
  ledger_checkpoints: {
    ...OF_LEDGER,
    reason: 'Signed tree heads of the ledger. Only the reconciler that records nodes adds them.',
  },
  ledger_nodes: { ...OF_LEDGER, reason: 'What the ledger has of each node. Only the reconciler that records nodes changes it.' },
  two_factors: { app: '', reason: 'Secrets of authenticator apps. Only sign-in uses them, with the system role.' },
  verifications: { app: '', reason: 'One-time tokens. Only sign-in reads them, with the system role.' },
  workers: { app: 'select, update', reason: 'Workers serve all tenants. Verbs drain them.' },
  credential_keys: { app: 'select', reason: 'Salts of the encryption keys of the installation.' },
  ingest_liveness: { app: 'select', reason: 'When this installation received heartbeats; the same for all tenants.' },
  agent_heartbeat_history: {
    app: 'select',
    policy: 'exists (select from agents a where a.node_id = agent_heartbeat_history.node_id)',
    reason: 'Belongs to an agent, without a foreign key that would slow down each heartbeat.',
  },
}

/** Tables in which the application can add and read rows, but not change or delete them. Retention uses the system role. */
export const INSERT_ONLY = ['audit_entries']

/** The policy of a table without rules: no row is visible. */
export const CLOSED = 'false'

const ALL = 'select, insert, update, delete'

export type SecuredTable = {
  name: string
  /** Rows without a tenant concern the installation; no tenant sees them. */
  hasTenant: boolean
  /** Conditions that the row's parents are visible, one per foreign key that is never null. */
  parents: string[]
}

/** Every table except partitions, which only the owner and the system role can read. */
export async function listTables(client: Pick<pg.Client, 'query'>): Promise<SecuredTable[]> {
  const { rows } = await client.query<SecuredTable>(`
    select c.relname as name,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as "hasTenant",
      array(
        select format('exists (select from %I parent where %s)', f.confrelid::regclass::text, (
          select string_agg(format('parent.%I = %I.%I', p.attname, c.relname, k.attname), ' and ' order by i)
            from unnest(f.conkey, f.confkey) with ordinality as pair (own, other, i)
            join pg_attribute k on k.attrelid = f.conrelid and k.attnum = pair.own
            join pg_attribute p on p.attrelid = f.confrelid and p.attnum = pair.other))
        from pg_constraint f where f.conrelid = c.oid and f.contype = 'f' and not exists (
          select from pg_attribute a where a.attrelid = c.oid and a.attnum = any(f.conkey) and not a.attnotnull)
        order by f.conname
      ) as parents
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`)
  return rows
}

/**
 * The conditions under which the application sees and writes a row; null when it sees all rows, or has no rights. All parents of a row
 * must be visible to write it, so one suffices to read it. A table that neither has a tenant or parent nor is in OTHER_TABLES is closed.
 */
export function policyOf({ name, hasTenant, parents }: SecuredTable): { read: string; write: string } | null {
  const both = (condition: string) => ({ read: condition, write: condition })
  const other = OTHER_TABLES[name]
  if (other) return other.policy ? both(other.policy) : null
  if (hasTenant) return both(`tenant_id = ${CURRENT_TENANT}`)
  return parents[0] ? { read: parents[0], write: parents.join(' and ') } : both(CLOSED)
}

const rightsOf = (table: string): string => OTHER_TABLES[table]?.app ?? (INSERT_ONLY.includes(table) ? 'select, insert' : ALL)

/**
 * Functions that run as the owner, for the partitions of the heartbeat history: only the owner of a table can change it. The default
 * partition holds rows of a day that has no partition yet.
 */
const PARTITION_FUNCTIONS = [
  `create or replace function create_heartbeat_history_partition(day date) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare name text := 'agent_heartbeat_history_' || to_char(day, 'YYYYMMDD');
    declare lower timestamptz := day::timestamp at time zone 'UTC';
    declare upper timestamptz := (day + 1)::timestamp at time zone 'UTC';
    begin
      execute format('create table %I (like agent_heartbeat_history including all)', name);
      execute format('with moved as (delete from agent_heartbeat_history_default where bucket_at >= %L and bucket_at < %L returning *)
        insert into %I select * from moved', lower, upper, name);
      execute format('alter table agent_heartbeat_history attach partition %I for values from (%L) to (%L)', name, lower, upper);
    end $$`,
  `create or replace function drop_heartbeat_history_partition(day date) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      execute format('drop table %I', 'agent_heartbeat_history_' || to_char(day, 'YYYYMMDD'));
    end $$`,
]

/**
 * Applies policies and rights to every table, in one transaction. The application sees rows of one tenant, and cannot change audit
 * entries or the schema. `client` is the owner.
 */
export async function secureRows(client: pg.Client, roles: { app: string; system: string }): Promise<void> {
  const [app, system] = [pg.escapeIdentifier(roles.app), pg.escapeIdentifier(roles.system)]
  const both = `${app}, ${system}`
  const statements = [
    'revoke create on schema public from public',
    `grant usage on schema public to ${both}`,
    `revoke all on all tables in schema public from ${both}`,
    `grant ${ALL} on all tables in schema public to ${system}`,
    `grant usage, select on all sequences in schema public to ${both}`,
  ]
  for (const table of await listTables(client)) {
    const name = pg.escapeIdentifier(table.name)
    const policy = policyOf(table)
    const rights = rightsOf(table.name)
    statements.push(`drop policy if exists tenant on ${name}`)
    if (policy)
      statements.push(
        `create policy tenant on ${name} using (${policy.read}) with check (${policy.write})`,
        `alter table ${name} enable row level security, force row level security`,
      )
    if (rights) statements.push(`grant ${rights} on ${name} to ${app}`)
  }
  statements.push(
    ...PARTITION_FUNCTIONS,
    'revoke all on function create_heartbeat_history_partition, drop_heartbeat_history_partition from public',
    `grant execute on function create_heartbeat_history_partition, drop_heartbeat_history_partition to ${system}`,
    // The queue: the application adds entries. The system role creates, takes and removes them.
    `grant usage on schema pgboss to ${both}`,
    `grant ${ALL} on all tables in schema pgboss to ${system}`,
    `grant usage, select on all sequences in schema pgboss to ${both}`,
    `grant select on pgboss.queue to ${app}`,
    `grant insert, select (id, start_after) on pgboss.job, pgboss.job_common to ${app}`,
    `grant usage on schema drizzle to ${system}`,
    `grant select on drizzle.__drizzle_migrations to ${system}`,
    `comment on schema drizzle is '${rulesId(roles)}'`,
  )
  await client.query('begin')
  try {
    for (const statement of statements) await client.query(statement)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
