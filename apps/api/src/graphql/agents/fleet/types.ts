import type { AgentState as State } from '@muster/core/agents'
import { builder } from '../../../builder.ts'
import { AgentState } from '../enums.ts'

/** Maximum number of nodes in one result; counts include all. */
export const MAX_NODES = 20_000

type Node = { name: string; state: State; cpuPercent: number | null; memoryPercent: number | null }
export type Cluster = {
  cluster: string
  region: string | null
  datacenter: string | null
  byState: Partial<Record<State, number>>
  suppressedCount: number
  nodes: Node[] | null
}

const StateCount = builder.objectRef<{ state: State; count: number }>('AgentStateCount').implement({
  description: 'Number of agents in a state.',
  fields: (t) => ({
    state: t.expose('state', { type: AgentState, description: 'The state.' }),
    count: t.exposeInt('count', { description: 'Number of agents, at least 1.' }),
  }),
})

function countsOf(clusters: Cluster[]): { state: State; count: number }[] {
  const counts = new Map<State, number>()
  for (const { byState } of clusters)
    for (const [state, count] of Object.entries(byState) as [State, number][]) counts.set(state, (counts.get(state) ?? 0) + count)
  return [...counts].map(([state, count]) => ({ state, count })).sort((a, b) => b.count - a.count)
}

const FleetNode = builder.objectRef<Node>('FleetNode').implement({
  description: 'A node with an agent.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the node.' }),
    state: t.expose('state', { type: AgentState, description: 'State of the agent.' }),
    cpuPercent: t.exposeInt('cpuPercent', { nullable: true, description: 'CPU utilization; null when not reported.' }),
    memoryPercent: t.exposeInt('memoryPercent', { nullable: true, description: 'Memory utilization; null when not reported.' }),
  }),
})

const FleetCluster = builder.objectRef<Cluster>('FleetCluster').implement({
  description: 'The nodes of a cluster in one location.',
  fields: (t) => ({
    cluster: t.exposeString('cluster', { description: 'Cluster, as reported by the agents.' }),
    region: t.exposeString('region', { nullable: true, description: 'Region; null when not reported.' }),
    datacenter: t.exposeString('datacenter', { nullable: true, description: 'Data center; null when not reported.' }),
    counts: t.field({
      type: [StateCount],
      description: 'Number of nodes by state, largest first, at most one entry per state. States without a node are omitted.',
      resolve: (cluster) => countsOf([cluster]),
    }),
    suppressedCount: t.exposeInt('suppressedCount', {
      description: 'Number of silent nodes that are not OFFLINE because of a mass outage.',
    }),
    nodes: t.field({
      type: [FleetNode],
      description: 'Nodes by name. At most 20,000 over all clusters.',
      resolve: ({ nodes }) => nodes ?? [],
    }),
  }),
})

export const AgentFleet = builder.objectRef<Cluster[]>('AgentFleet').implement({
  description: 'Overview of all nodes with an agent.',
  fields: (t) => ({
    counts: t.field({
      type: [StateCount],
      description: 'Number of nodes by state, largest first, at most one entry per state. States without a node are omitted.',
      resolve: countsOf,
    }),
    suppressedCount: t.int({
      description: 'Number of silent nodes that are not OFFLINE because of a mass outage.',
      resolve: (clusters) => clusters.reduce((sum, { suppressedCount }) => sum + suppressedCount, 0),
    }),
    clusters: t.field({
      type: [FleetCluster],
      description: 'Nodes by cluster, region and data center. At most one entry per node.',
      resolve: (clusters) => clusters,
    }),
  }),
})
