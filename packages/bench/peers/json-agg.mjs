// The physical limit for a Node process: one hand-written statement whose JSON is returned unchanged.
import { createServer } from 'node:http'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const STATEMENT = `
  select json_build_object('data', json_build_object('nodes', json_agg(n)))::text as body from (
    select n.id, n.name, n.host, n.status, n.tags, n.os_name as "osName", n.memory_bytes as "memoryBytes",
      (select coalesce(json_agg(a), '[]') from (
        select a.index, a.device_type as "deviceType", a.model, a.memory_total as "memoryTotal", a.health
        from accelerators a where a.node_id = n.id order by a.index) a) as accelerators,
      (select coalesce(json_agg(g), '[]') from (
        select g.name, g.priority from node_group_members m join node_groups g on g.id = m.group_id
        where m.node_id = n.id order by g.priority, g.name) g) as groups
    from compute_nodes n where n.tenant_id = $1 order by n.id limit $2) n`

createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost')
  const { rows } = await pool.query({
    name: 'nodes',
    text: STATEMENT,
    values: [url.searchParams.get('tenant'), url.searchParams.get('first')],
  })
  response.setHeader('content-type', 'application/json')
  response.end(rows[0].body)
}).listen(Number(process.env.PORT), '127.0.0.1')
