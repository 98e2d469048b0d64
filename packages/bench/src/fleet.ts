import pg from 'pg'

const GROUPS = 20

/**
 * Inserts `count` discovered nodes into the only tenant with SQL: three of four have eight accelerators, and each is in two groups.
 */
export async function seedFleet(databaseUrl: string, count: number): Promise<{ tenantId: string }> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    const { rows } = await db.query<{ id: string }>('select id from tenants')
    const tenantId = rows[0]!.id
    await db.query(
      `insert into compute_nodes (id, tenant_id, name, host, tags, os_name, os_id, arch, kernel, cpu_model, cpu_sockets, cpu_cores, cpu_threads, memory_bytes, ready_at, last_seen_at)
       select gen_random_uuid(), $1, 'node' || to_char(i, 'FM00000'), '10.' || i / 65536 || '.' || i / 256 % 256 || '.' || i % 256,
         array['rack' || i / 40, case when i % 2 = 0 then 'prod' else 'test' end], 'Debian GNU/Linux 12', 'debian', 'x86_64', '6.1.0', 'Xeon', 2, 64, 128, 1099511627776, now(), now()
       from generate_series(1, $2) i`,
      [tenantId, count],
    )
    await db.query(
      `insert into accelerators (id, tenant_id, node_id, identity, device_type, vendor, model, index, uuid, memory_total, health, source)
       select gen_random_uuid(), $1, n.id, 'GPU-' || n.name || '-' || k, t.type, t.vendor, t.model, k, 'GPU-' || n.name || '-' || k, 85899345920, 'ok', 'tool'
       from (select *, row_number() over (order by name) i from compute_nodes) n cross join generate_series(0, 7) k
       join (values (1, 'nvidia_gpu', 'nvidia', 'NVIDIA H100 80GB HBM3'), (2, 'amd_gpu', 'amd', 'AMD Instinct MI300X'), (3, 'huawei_npu', 'huawei', 'Ascend 910B3')) t(nr, type, vendor, model)
         on t.nr = n.i % 4`,
      [tenantId],
    )
    await db.query(
      `insert into node_groups (id, tenant_id, name, priority) select gen_random_uuid(), $1, 'group' || i, i from generate_series(1, $2) i`,
      [tenantId, GROUPS],
    )
    await db.query(
      `insert into node_group_members (group_id, node_id)
       select g.id, n.id from (select id, row_number() over (order by name) i from compute_nodes) n
       join (select id, row_number() over (order by priority) - 1 i from node_groups) g on g.i in (n.i % $1, (n.i + 7) % $1)`,
      [GROUPS],
    )
    await db.query('vacuum analyze')
    return { tenantId }
  } finally {
    await db.end()
  }
}

/**
 * Agents on all nodes, and `count` runs and alerts: lists with rows for a page of any size.
 */
export async function seedLists(databaseUrl: string, tenantId: string, count: number): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    await db.query(
      `insert into agents (node_id, tenant_id, agent_id, cluster, state, version)
       select id, tenant_id, name, 'cluster-' || right(name, 1), 'ACTIVE', '1.0.0' from compute_nodes where tenant_id = $1`,
      [tenantId],
    )
    await db.query(
      `insert into job_runs (id, tenant_id, number, template_id, template_name, playbook_path, become, become_method, become_user, timeout_seconds, forks,
         created_by_name, started_at, finished_at, end_cause, exit_code)
       select gen_random_uuid(), $1, i, t.id, t.name, t.playbook_path, t.become, t.become_method, t.become_user, t.timeout_seconds, t.forks,
         'bench', now(), now(), 'exit', 0
       from generate_series(1, $2) i cross join (select * from job_templates where tenant_id = $1 order by name limit 1) t`,
      [tenantId, count],
    )
    await db.query(
      `insert into alerts (id, tenant_id, node_id, kind, severity, key)
       select gen_random_uuid(), tenant_id, id, 'key_shared', 'critical', id::text from compute_nodes where tenant_id = $1 limit $2`,
      [tenantId, count],
    )
    await db.query('vacuum analyze')
  } finally {
    await db.end()
  }
}

/** A group with a member query below a group of its own: its nodes are in both. */
export async function seedQueryGroups(databaseUrl: string, tenantId: string): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    await db.query(
      `with parent as (insert into node_groups (id, tenant_id, name) values (gen_random_uuid(), $1, 'query_parent') returning id)
       insert into node_groups (id, tenant_id, name, parent_id, member_query) select gen_random_uuid(), $1, 'by_query', id, 'tag = prod' from parent`,
      [tenantId],
    )
  } finally {
    await db.end()
  }
}
