import type { AgentState as State } from '@muster/core/agents'
import { builder } from '../../../builder.ts'
import { AgentState } from '../enums.ts'

export type Cluster = {
  cluster: string
  region: string | null
  datacenter: string | null
  names: string[]
  states: State[]
  cpu: (number | null)[]
  memory: (number | null)[]
  heldCount: number
}

const StateCount = builder.objectRef<{ state: State; count: number }>('AgentStateCount').implement({
  description: 'How many agents are in a state.',
  fields: (t) => ({
    state: t.expose('state', { type: AgentState, description: 'The state.' }),
    count: t.exposeInt('count', { description: 'How many; states that none is in are left out.' }),
  }),
})

function countsOf(clusters: Cluster[]): { state: State; count: number }[] {
  const counts = new Map<State, number>()
  for (const { states } of clusters) for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => ({ state, count })).sort((a, b) => b.count - a.count)
}

// The four lists are as long as each other and in one order: ten thousand objects would take ten times the time.
const FleetCluster = builder.objectRef<Cluster>('FleetCluster').implement({
  description: 'The nodes with an agent of one cluster in one place. Its lists go by name and belong together, place by place.',
  fields: (t) => ({
    cluster: t.exposeString('cluster', { description: 'The cluster, as its agents call it.' }),
    region: t.exposeString('region', { nullable: true, description: 'The region in which these nodes stand; null: not told.' }),
    datacenter: t.exposeString('datacenter', { nullable: true, description: 'The data centre; null: not told.' }),
    counts: t.field({
      type: [StateCount],
      description: 'How many are in each state, most first.',
      resolve: (cluster) => countsOf([cluster]),
    }),
    heldCount: t.exposeInt('heldCount', { description: 'How many are silent and held, because so many are at once.' }),
    names: t.exposeStringList('names', { description: 'Names of the nodes.' }),
    states: t.expose('states', { type: [AgentState], description: 'State of each.' }),
    cpu: t.expose('cpu', {
      type: ['Int'],
      nullable: { list: false, items: true },
      description: 'Use of processors, in percent.',
    }),
    memory: t.expose('memory', {
      type: ['Int'],
      nullable: { list: false, items: true },
      description: 'Use of memory, in percent.',
    }),
  }),
})

export const AgentFleet = builder.objectRef<Cluster[]>('AgentFleet').implement({
  description: 'All nodes with an agent, small enough to be drawn at once.',
  fields: (t) => ({
    counts: t.field({ type: [StateCount], description: 'How many are in each state, most first.', resolve: countsOf }),
    heldCount: t.int({
      description: 'How many are silent and not called OFFLINE, because so many are at once that the fault may be ours.',
      resolve: (clusters) => clusters.reduce((sum, { heldCount }) => sum + heldCount, 0),
    }),
    clusters: t.field({
      type: [FleetCluster],
      description: 'By cluster, region and data centre.',
      resolve: (clusters) => clusters,
    }),
  }),
})
