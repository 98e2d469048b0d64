import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { countNodesOfGroups } from '@muster/core/groups'
import { nodeHealthStatus } from '@muster/core/nodes'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { type SQL, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import type { ApiContext } from '../../../context.ts'
import { groupTree } from '../../groups/tree.ts'
import { COLUMNS, type ColumnFacets, type FacetRow, MAX_VALUES, NodeFacets } from './types.ts'

const { accelerators, agents, computeNodes } = schema

builder.queryField('nodeFacets', (t) =>
  t.field({
    type: NodeFacets,
    description: 'Values in use per attribute of nodes.',
    authScopes: { permission: tenantPermissions.read },
    complexity: 100,
    resolve: async (_root, _args, context) => ({ ...(await readFacets(context.ctx)), groups: await groupFacet(context) }),
  }),
)

async function groupFacet(context: ApiContext): Promise<FacetRow[]> {
  const tree = await groupTree(context)
  const counts = await countNodesOfGroups(context.ctx.db, context.ctx, tree, [...tree.byId.keys()])
  const rows = [...counts].map(([id, count]) => ({ value: tree.byId.get(id)!.name, count }))
  return rows
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MAX_VALUES)
}

/** Reads the facets of columns in one statement. */
async function readFacets(ctx: Ctx): Promise<ColumnFacets> {
  const facets = Object.fromEntries(COLUMNS.map((name) => [name, [] as FacetRow[]])) as ColumnFacets
  const nodes = sql`${computeNodes} n where n.tenant_id = ${ctx.tenantId}`
  const counts = (facet: keyof ColumnFacets, value: SQL, from: SQL) =>
    sql`select ${facet}::text as facet, ${value} as value, count(*)::int as count from ${from} and ${value} is not null group by 2`
  const health = sql`(select ${nodeHealthStatus(computeNodes)} as status from ${computeNodes} where ${visibleTo(ctx, computeNodes)}) h`
  const speaking = sql`${agents} a where a.tenant_id = ${ctx.tenantId}`
  const devices = sql`(select distinct node_id, device_type, model from ${accelerators} where ${visibleTo(ctx, accelerators)}) a where true`
  const { rows } = await ctx.db.execute<FacetRow & { facet: keyof typeof facets }>(sql`
    select facet, value, count from (
      select *, row_number() over (partition by facet order by count desc, value) as position from (
      select 'tags' as facet, tag as value, count(*)::int as count from ${computeNodes} n, unnest(n.tags) as tag where n.tenant_id = ${ctx.tenantId} group by tag
      union all ${counts('statuses', sql`n.status`, nodes)}
      union all select 'healthStatuses', status, count(*)::int from ${health} group by 2
      union all ${counts('oses', sql`n.os_id`, nodes)}
      union all ${counts('arches', sql`n.arch`, nodes)}
      union all ${counts('regions', sql`n.region`, nodes)}
      union all ${counts('datacenters', sql`n.datacenter`, nodes)}
      union all ${counts('racks', sql`n.rack`, nodes)}
      union all ${counts('agentStates', sql`a.state`, speaking)}
      union all ${counts('clusters', sql`a.cluster`, speaking)}
      union all select 'deviceTypes', upper(device_type), count(distinct node_id)::int from ${devices} group by 2
      union all select 'models', model, count(distinct node_id)::int from ${devices} and model is not null group by 2
    ) counted) facets where position <= ${MAX_VALUES} order by count desc, value`)
  for (const { facet, ...row } of rows) facets[facet].push(row)
  return facets
}
