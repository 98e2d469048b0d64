import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { AgentFleet, type Cluster } from './types.ts'

const { agentHeartbeats, agents, computeNodes } = schema

builder.queryField('agentFleet', (t) =>
  t.field({
    type: AgentFleet,
    description: 'All nodes with an agent, in one statement.',
    authScopes: { authenticated: true },
    complexity: 100,
    args: {
      cluster: t.arg.string({ description: 'Only of this cluster.' }),
      region: t.arg.string({ description: 'Only in this region.' }),
      datacenter: t.arg.string({ description: 'Only in this data centre.' }),
    },
    resolve: async (_root, { cluster, region, datacenter }, { ctx }) => {
      const only = (column: string, value: string | null | undefined) =>
        typeof value === 'string' ? sql` and ${sql.raw(column)} = ${value}` : sql``
      const { rows } = await ctx.db.execute<Cluster>(sql`
        select cluster, region, datacenter, array_agg(name order by name) as names, array_agg(state order by name) as states,
          array_agg(cpu order by name) as cpu, array_agg(memory order by name) as memory, count(offline_suppressed_at)::int as "heldCount"
        from (
          select a.cluster, n.region, n.datacenter, n.name, a.state, a.offline_suppressed_at,
            round(b.cpu_percent)::int as cpu, round(b.memory_percent)::int as memory
          from ${agents} a
          join ${computeNodes} n on n.id = a.node_id
          left join ${agentHeartbeats} b on b.node_id = a.node_id
          where a.tenant_id = ${ctx.tenantId}${only('a.cluster', cluster)}${only('n.region', region)}${only('n.datacenter', datacenter)}
        ) of_node
        group by cluster, region, datacenter order by cluster, region, datacenter`)
      return rows
    },
  }),
)
