import type { NodeStatePreview } from '@muster/core/node-states'
import { foldHostlist } from '@muster/core/selection'
import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

const MAX_REJECTIONS = 100
const MAX_JOBS = 500

export const NodeStateChangeType = builder.enumType('NodeStateChange', {
  description: 'A change of the state of nodes.',
  values: same({
    MAINTENANCE: 'Maintenance starts.',
    DRAIN: 'The agents are drained.',
    DECOMMISSION: 'The nodes are decommissioned.',
  }),
})

const NodeStateRejection = builder.objectRef<{ reason: string; names: string[] }>('NodeStateRejection').implement({
  description: 'Nodes for which a change would be refused for the same reason.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'The reason.' }),
    hostlist: t.string({ description: 'The nodes: `gpu[001-064]`.', resolve: ({ names }) => foldHostlist(names) }),
  }),
})

const NodeStateCluster = builder.objectRef<NodeStatePreview['slurm'][number]>('NodeStateCluster').implement({
  description: 'A Slurm cluster that would be asked to drain nodes.',
  fields: (t) => ({
    name: t.exposeString('clusterName', { description: 'Name of the cluster.' }),
    hostlist: t.string({ description: 'Its nodes, by their names in Slurm.', resolve: ({ names }) => foldHostlist(names) }),
  }),
})

const NodeStateRun = builder.objectRef<NodeStatePreview['runs'][number]>('NodeStateRun').implement({
  description: 'An unfinished run on some of the nodes.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Number of the run.' }),
    templateName: t.exposeString('templateName', { description: 'Name of its template.' }),
    hostlist: t.string({ description: 'Its hosts among the nodes.', resolve: ({ hosts }) => foldHostlist(hosts) }),
  }),
})

export const NodeStatePreviewType = builder.objectRef<NodeStatePreview>('NodeStatePreview').implement({
  description: 'What a change of the state of nodes would do now.',
  fields: (t) => ({
    nodeCount: t.int({ description: 'Number of nodes.', resolve: ({ nodes }) => nodes.length }),
    hostlist: t.string({ description: 'The nodes.', resolve: ({ nodes }) => foldHostlist(nodes.map(({ name }) => name)) }),
    rejections: t.field({
      type: [NodeStateRejection],
      description: `Why the change would be refused for some nodes; at most ${MAX_REJECTIONS}.`,
      resolve: ({ rejections }) => [...rejections].map(([reason, names]) => ({ reason, names })).slice(0, MAX_REJECTIONS),
    }),
    runningJobs: t.exposeInt('runningJobs', { description: 'Number of running jobs that the agents report.' }),
    unknownJobsHostlist: t.string({
      description: 'Nodes for which the number of running jobs is unknown; empty when it is known for all.',
      resolve: ({ unknown }) => foldHostlist(unknown),
    }),
    slurmJobIds: t.stringList({
      description: `IDs of jobs that Slurm reported on the nodes at its last refresh; at most ${MAX_JOBS}.`,
      resolve: ({ slurmJobIds }) => slurmJobIds.slice(0, MAX_JOBS),
    }),
    clusters: t.expose('slurm', {
      type: [NodeStateCluster],
      description: 'DRAIN: the Slurm clusters that are asked to drain the nodes. At most 500.',
    }),
    runs: t.expose('runs', { type: [NodeStateRun], description: 'Unfinished runs on the nodes, which continue. At most 20.' }),
    openAlerts: t.exposeInt('openAlerts', {
      description: 'Number of open alerts. MAINTENANCE silences them; DECOMMISSION resolves them.',
    }),
    agentCount: t.exposeInt('agents', { description: 'DECOMMISSION: number of agents that are deregistered; otherwise 0.' }),
  }),
})
