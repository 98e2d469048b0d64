import { type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { agents } from '../../agents/tables.ts'
import { isCurrentCluster, slurmClusters, slurmNodes } from '../../clusters/tables.ts'
import { accelerators } from '../tables.ts'

/** Worst first. */
export const NODE_HEALTH_STATUSES = ['UNHEALTHY', 'DEGRADED', 'UNKNOWN', 'HEALTHY'] as const

export type NodeHealthStatus = (typeof NODE_HEALTH_STATUSES)[number]

export type NodeHealth = { status: NodeHealthStatus; reason: string | null }

type Columns = Record<'id' | 'status' | 'unreachableReason' | 'unreachableSince' | 'decommissionedAt', AnyPgColumn>

/**
 * The health of a node: the worst of SSH, agent, accelerators and Slurm, with the reason. Filter, query language and field use this
 * subquery. SSH comes first among equals. Accelerators of unknown health, deregistered agents, and Slurm clusters without current data
 * do not count.
 */
const worst = (n: Columns): SQL => sql`(
  select f.status, f.reason from (
    select 1 as source,
      case when ${n.decommissionedAt} is not null then 'UNKNOWN'
        when ${n.unreachableSince} is not null then 'UNHEALTHY'
        when ${n.status} = 'NEW' then 'UNKNOWN' else 'HEALTHY' end as status,
      case when ${n.decommissionedAt} is not null then 'The node is decommissioned.'
        when ${n.unreachableSince} is not null then coalesce(${n.unreachableReason}, 'The node is unreachable over SSH.')
        when ${n.status} = 'NEW' then 'No connection test has succeeded yet.' end as reason
    union all
    select 2,
      case ag.state when 'OFFLINE' then 'UNHEALTHY' when 'STALE' then 'DEGRADED' when 'PENDING' then 'UNKNOWN' else 'HEALTHY' end,
      case ag.state when 'OFFLINE' then 'The agent is offline: it sends no heartbeats.'
        when 'STALE' then 'The agent missed heartbeats.'
        when 'PENDING' then 'The agent has not sent a heartbeat yet.' end
    from ${agents} ag
    where ag.node_id = ${n.id} and ag.state <> 'DEREGISTERED' and ${n.decommissionedAt} is null
    union all (
      select 3, case a.health when 'warning' then 'DEGRADED' else 'UNHEALTHY' end,
        'Accelerator ' || a.index || ' has the health ' || upper(a.health) || coalesce(': ' || rtrim(a.health_reason, '.'), '') || '.'
      from ${accelerators} a
      where a.node_id = ${n.id} and a.health in ('lost', 'critical', 'warning') and ${n.decommissionedAt} is null
      order by array_position(array['lost', 'critical', 'warning'], a.health), a.index limit 1)
    union all (
      select 4, case when sn.state ~ '^DRAIN' and sn.state !~ '[*]$' then 'DEGRADED' else 'UNHEALTHY' end,
        'The Slurm cluster ' || sc.name || ' shows the state ' || sn.state || coalesce(': ' || rtrim(sn.report->>'reason', '.'), '') || '.'
      from ${slurmNodes} sn join ${slurmClusters} sc on sc.id = sn.cluster_id
      where sn.node_id = ${n.id} and sn.state ~ '^(DOWN|DRAIN|FAIL|INVAL)|[*]$' and ${isCurrentCluster('sc')}
        and ${n.decommissionedAt} is null
      order by sn.state ~ '^DRAIN' and sn.state !~ '[*]$', sn.name limit 1)
  ) f
  order by array_position(${sql.param([...NODE_HEALTH_STATUSES])}::text[], f.status), f.source limit 1)`

/** Health of a node as a column of the statement that reads the node. */
export const nodeHealth = (n: Columns): SQL<NodeHealth> => sql<NodeHealth>`(select row_to_json(h.*) from ${worst(n)} h)`

/** Status of the health of a node, for conditions. */
export const nodeHealthStatus = (n: Columns): SQL<NodeHealthStatus> => sql<NodeHealthStatus>`(select h.status from ${worst(n)} h)`
