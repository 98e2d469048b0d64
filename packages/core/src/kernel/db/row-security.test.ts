import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assignBootProfile, createBootProfile } from '../../boot-profiles/index.ts'
import { credentials } from '../../credentials/tables.ts'
import { createNodeGroup, setNodeGroupMembers } from '../../groups/index.ts'
import { runJob } from '../../runs/index.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { insertAgentsOfNodes } from '../../testing/insert-agents.ts'
import { insertRuns } from '../../testing/insert-run.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { CLOSED, INSERT_ONLY, listTables, OTHER_TABLES, policyOf, type SecuredTable } from './row-security.ts'
import { TENANT_SETTING } from './tenant-query.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
let owner: pg.Client
/** A connection of the application role. */
let app: pg.PoolClient
const tables: SecuredTable[] = []

beforeAll(async () => {
  t = await testRuntime()
  owner = new pg.Client({ connectionString: t.url })
  await owner.connect()
  tables.push(...(await listTables(owner)))
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  for (const { operator, admin } of [ours, theirs]) {
    const credential = await t.given.credential(admin, 'SSH_KEY')
    const nodes = await t.given.fleet(operator, { nodes: 2, accelerators: 1, with: { credentialId: credential.id } })
    await insertAgentsOfNodes(operator, nodes)
    const group = await createNodeGroup(operator, { name: 'group' })
    await setNodeGroupMembers(operator, { id: group.id, addNodeIds: [nodes[0]!.id] })
    const profile = await createBootProfile(admin, { name: 'profile' })
    await assignBootProfile(admin, { profileId: profile.id, nodeIds: [nodes[0]!.id] })
    await insertRuns(operator, [{ status: 'SUCCEEDED', nodes, lines: 2 }])
    await runJob(operator, { template: 'connectivity_check', nodeIds: [nodes[0]!.id] })
  }
  await fillOtherTables()
  app = await t.appPool.connect()
})
afterAll(async () => {
  app?.release()
  await owner?.end()
  await t?.close()
})

/** Adds a row of each tenant to the tables that the fixtures leave empty: references and checks are off. */
async function fillOtherTables(): Promise<void> {
  await owner.query('set session_replication_role = replica')
  for (const { name, hasTenant } of tables) {
    const { rowCount } = await owner.query(`select 1 from ${name} limit 1`)
    if (rowCount || !(hasTenant || OTHER_TABLES[name] === undefined || OTHER_TABLES[name].policy)) continue
    for (const tenant of [ours, theirs]) await insertAnyRow(name, tenant.tenant.id)
  }
  await owner.query('set session_replication_role = origin')
}

/** Inserts a row with a value of each column's type; rows of parents are those of the tenant. */
async function insertAnyRow(table: string, tenantId: string): Promise<void> {
  const { rows: columns } = await owner.query<{ name: string; type: string; parent: string | null; key: string | null }>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, f.confrelid::regclass::text as parent,
        (select attname from pg_attribute where attrelid = f.confrelid and attnum = f.confkey[array_position(f.conkey, a.attnum)]) as key
      from pg_attribute a
      left join pg_constraint f on f.conrelid = a.attrelid and f.contype = 'f' and a.attnum = any(f.conkey)
      where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
        and (a.attnotnull or a.attname in ('id', 'tenant_id', 'group_id'))`,
    [table],
  )
  const literalOf = async ({ name, type, parent, key }: (typeof columns)[number]): Promise<string> => {
    if (name === 'tenant_id') return `'${tenantId}'`
    const from = parent ?? (name === 'node_id' ? 'agents' : null)
    if (from && from !== 'tenants') {
      const [table, column] = from === 'users' ? ['members', 'user_id'] : [from, key ?? name]
      const { rows } = await owner.query(`select ${column} as key from ${table} where tenant_id = $1 limit 1`, [tenantId])
      if (rows[0]) return `'${rows[0].key}'`
    }
    if (type === 'uuid') return 'gen_random_uuid()'
    if (type.endsWith('[]')) return `'{}'`
    if (type.startsWith('json')) return `'{}'`
    if (type === 'bytea') return `'\\x00'`
    if (type.startsWith('timestamp')) return 'now()'
    if (type === 'boolean') return 'false'
    if (type === 'text') return 'gen_random_uuid()::text'
    return `'1'`
  }
  const values = await Promise.all(columns.map(literalOf))
  await owner.query(`insert into ${table} (${columns.map(({ name }) => `"${name}"`).join()}) values (${values.join()})`)
}

/** Runs `work` as the application role, in a transaction of a tenant that is rolled back. */
async function asTenant<T>(tenantId: string | null, work: () => Promise<T>): Promise<T> {
  await app.query('begin')
  try {
    if (tenantId) await app.query('select set_config($1, $2, true)', [TENANT_SETTING, tenantId])
    return await work()
  } finally {
    await app.query('rollback')
  }
}
const countOf = async (client: pg.ClientBase, table: string) =>
  Number((await client.query(`select count(*)::int as count from ${table}`)).rows[0].count)
/** Whether the application may execute `right` on the table. */
const hasRight = async (table: string, right: string) =>
  (await app.query<{ has: boolean }>('select has_table_privilege($1, $2) as has', [table, right])).rows[0]!.has
/** Rows of a tenant, as the owner counts them under the condition of the policy. */
const rowsOf = async (table: SecuredTable, tenantId: string): Promise<{ ctid: string; row: string }[]> => {
  await owner.query('select set_config($1, $2, false)', [TENANT_SETTING, tenantId])
  // The owner is not subject to the policies of parents, so their condition is written out.
  const parents = policyOf(table)!.read.replace(
    /from (\w+) (parent|a|m) where /g,
    (_, name, alias) => `from ${name} ${alias} where ${tenantCondition(name, alias)} and `,
  )
  const { rows } = await owner.query(`select ctid::text, ${table.name}::text as row from ${table.name} where ${parents}`)
  return rows
}
const tenantCondition = (name: string, alias: string) =>
  tables.find((table) => table.name === name)!.hasTenant
    ? `${alias}.tenant_id = current_setting('${TENANT_SETTING}')::uuid`
    : 'true'

test('every table has a policy, or an entry with a reason', () => {
  // Such a table needs a tenant_id, a foreign key that is never null, or an entry in OTHER_TABLES of row-security.ts.
  expect(tables.filter((table) => policyOf(table)?.read === CLOSED).map(({ name }) => name)).toEqual([])
  for (const table of tables) if (!policyOf(table)) expect(OTHER_TABLES[table.name]!.reason.length).toBeGreaterThan(20)
  const names = tables.map(({ name }) => name)
  expect(Object.keys(OTHER_TABLES).filter((name) => !names.includes(name))).toEqual([])
})

test('the database forces each policy, and lets nobody read a partition', async () => {
  const { rows } = await owner.query<{ name: string; isForced: boolean; policies: number }>(
    `select relname as name, relrowsecurity and relforcerowsecurity as "isForced",
        (select count(*)::int from pg_policy where polrelid = c.oid and polpermissive and polcmd = '*') as policies
      from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  const expected = tables.map((table) => {
    const isForced = policyOf(table) !== null
    return { name: table.name, isForced, policies: isForced ? 1 : 0 }
  })
  expect(rows).toEqual(expected)
  const { rows: partitions } = await owner.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relispartition and relkind = 'r'`,
  )
  expect(partitions.length).toBeGreaterThan(0)
  for (const { name } of partitions) expect(await hasRight(name, 'select, insert, update, delete'), name).toBe(false)
})

test('both roles are ordinary users; only the system role bypasses row-level security', async () => {
  const attributes = async (client: pg.ClientBase) =>
    (
      await client.query(
        `select rolbypassrls as bypasses, rolsuper or rolcreaterole or rolcreatedb or rolreplication as "isPrivileged",
          has_schema_privilege('public', 'create') or has_schema_privilege('pgboss', 'create') or has_schema_privilege('drizzle', 'create') as "canChangeSchema",
          exists (select from pg_auth_members where member = current_user::regrole) as "isMember"
        from pg_roles where rolname = current_user`,
      )
    ).rows[0]
  const ordinary = { isPrivileged: false, canChangeSchema: false, isMember: false }
  expect(await attributes(app)).toEqual({ bypasses: false, ...ordinary })
  const system = await t.runtime.db.$client.connect()
  expect(await attributes(system).finally(() => system.release())).toEqual({ bypasses: true, ...ordinary })
})

test('without a tenant the application sees no row of any tenant', async () => {
  for (const table of tables)
    if (policyOf(table) && (await hasRight(table.name, 'select')))
      expect(await asTenant(null, () => countOf(app, table.name)), table.name).toBe(0)
})

test('the setting ends with its statement and transaction', async () => {
  const nodes = () => countOf(app, 'compute_nodes')
  expect(await asTenant(ours.tenant.id, nodes)).toBe(2)
  expect(await nodes()).toBe(0)
  expect(await ours.viewer.db.$count(credentials)).toBe(1)
  expect((await t.appPool.query('select from compute_nodes')).rowCount).toBe(0)
})

describe('a tenant neither reads nor writes rows of another tenant', () => {
  test('in any table', async () => {
    for (const table of tables) {
      const { name } = table
      if (!policyOf(table) || !(await hasRight(name, 'select'))) continue
      const [own, foreign] = [await rowsOf(table, ours.tenant.id), await rowsOf(table, theirs.tenant.id)]
      expect(own.length, name).toBeGreaterThan(0)
      expect(foreign.length, name).toBeGreaterThan(0)
      expect(await asTenant(ours.tenant.id, () => countOf(app, name)), name).toBe(own.length)
      const at = `ctid = any($1::tid[])`
      const ctids = [foreign.map(({ ctid }) => ctid)]
      expect((await asTenant(ours.tenant.id, () => app.query(`select from ${name} where ${at}`, ctids))).rowCount, name).toBe(0)
      const { rows: columns } = await owner.query<{ quoted: string }>(
        `select quote_ident(attname) as quoted from pg_attribute
          where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attidentity, attnum`,
        [name],
      )
      const column = columns[0]!.quoted
      for (const [right, statement] of [
        ['update', `update ${name} set ${column} = ${column} where ${at}`],
        ['delete', `delete from ${name} where ${at}`],
      ] as const) {
        const isPermitted = await hasRightOutside(name, right)
        const changed = asTenant(ours.tenant.id, () => app.query(statement, ctids))
        if (isPermitted) expect((await changed).rowCount, `${right} ${name}`).toBe(0)
        else await expect(changed, `${right} ${name}`).rejects.toThrow(/permission denied/)
      }
      // The same row again: row-level security rejects it before any constraint.
      const names = columns.map(({ quoted }) => quoted).join()
      const inserted = asTenant(ours.tenant.id, () =>
        app.query(
          `insert into ${name} (${names}) overriding system value select ${names} from (select ($1::${name}).*) foreign_row`,
          [foreign[0]!.row],
        ),
      )
      await expect(inserted, `insert ${name}`).rejects.toThrow(/row-level security|permission denied/)
    }
  })

  test('by a row that refers to rows of both', async () => {
    const idOf = async (table: string, tenantId: string) =>
      (await owner.query<{ id: string }>(`select id from ${table} where tenant_id = $1 limit 1`, [tenantId])).rows[0]!.id
    const [group, node] = [await idOf('node_groups', ours.tenant.id), await idOf('compute_nodes', theirs.tenant.id)]
    const inserted = asTenant(ours.tenant.id, () =>
      app.query('insert into node_group_members (group_id, node_id) values ($1, $2)', [group, node]),
    )
    await expect(inserted).rejects.toThrow(/row-level security/)
  })

  test('by changing the tenant of a row', async () => {
    for (const { name, hasTenant } of tables)
      if (hasTenant && (await hasRightOutside(name, 'update')))
        await expect(
          asTenant(ours.tenant.id, () => app.query(`update ${name} set tenant_id = $1`, [theirs.tenant.id])),
          name,
        ).rejects.toThrow(/row-level security/)
  })
})

const hasRightOutside = (table: string, right: string) =>
  owner
    .query<{ has: boolean }>('select has_table_privilege($1, $2, $3) as has', [new URL(t.roles.app).username, table, right])
    .then(({ rows }) => rows[0]!.has)

test.each(INSERT_ONLY)('%s can neither be changed nor deleted by the application', async (name) => {
  for (const statement of [`update ${name} set tenant_id = tenant_id`, `delete from ${name}`, `truncate ${name}`])
    await expect(asTenant(ours.tenant.id, () => app.query(statement))).rejects.toThrow(/permission denied/)
})

test('the application cannot read secrets of sign-in, change the schema, or end sessions', async () => {
  for (const statement of [
    'select from accounts',
    'select from sign_in_attempts',
    'delete from sessions',
    'select from verifications',
    'select from two_factors',
    'create table mine (id int)',
    'alter table compute_nodes disable row level security',
    'drop policy tenant on compute_nodes',
    `select create_heartbeat_history_partition('2000-01-01')`,
    'select data from pgboss.job',
    'set role postgres',
  ])
    await expect(
      asTenant(ours.tenant.id, () => app.query(statement)),
      statement,
    ).rejects.toThrow(/permission denied|must be owner|does not exist/)
})
