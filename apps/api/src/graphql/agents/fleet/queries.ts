import { tenantPermissions } from '@muster/core/access'
import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { AgentFleet, type Cluster, MAX_NODES } from './types.ts'

const { agentHeartbeats, agents, computeNodes } = schema

builder.queryField('agentFleet', (t) =>
  t.field({
    type: AgentFleet,
    description: 'Overview of all nodes with an agent.',
    authScopes: { permission: tenantPermissions.read },
    complexity: 100,
    args: {
      cluster: t.arg.string({ description: 'Only this cluster.' }),
      region: t.arg.string({ description: 'Only this region.' }),
      datacenter: t.arg.string({ description: 'Only this data center.' }),
    },
    resolve: async (_root, { cluster, region, datacenter }, { ctx }) => {
      const only = (column: string, value: string | null | undefined) =>
        typeof value === 'string' ? sql` and ${sql.raw(column)} = ${value}` : sql``
      const { rows } = await ctx.db.execute<Cluster>(sql`
        select cluster, region, datacenter, count(offline_suppressed_at)::int as "suppressedCount",
          json_object_agg(state, number) filter (where is_first) as "byState",
          json_agg(json_build_object('name', name, 'state', state, 'cpuPercent', cpu, 'memoryPercent', memory) order by name)
            filter (where place <= ${MAX_NODES}) as nodes
        from (
          select *, count(*) over same_state as number, row_number() over (same_state order by name) = 1 as is_first
          from (
            select a.cluster, n.region, n.datacenter, n.name, a.state, a.offline_suppressed_at, row_number() over (order by n.name) as place,
              round(b.cpu_percent)::int as cpu, round(b.memory_percent)::int as memory
            from ${agents} a
            join ${computeNodes} n on n.id = a.node_id
            left join ${agentHeartbeats} b on b.node_id = a.node_id
            where a.tenant_id = ${ctx.tenantId}${only('a.cluster', cluster)}${only('n.region', region)}${only('n.datacenter', datacenter)}
          ) of_node
          window same_state as (partition by cluster, region, datacenter, state)
        ) counted
        group by cluster, region, datacenter order by cluster, region, datacenter`)
      return rows
    },
  }),
)
