import { builder } from '../../builder.ts'
import type { LiveHeartbeat } from '../../live-heartbeats.ts'
import { AgentState, ReportedHealth } from '../agents/enums.ts'
import { globalId } from '../shared/ids.ts'

export const Heartbeat = builder.objectRef<LiveHeartbeat>('Heartbeat').implement({
  description: 'State of a node after a heartbeat or a state change. Values that were not reported are null.',
  fields: (t) => ({
    nodeId: t.id({ description: 'ID of the node.', resolve: ({ nodeId }) => globalId('ComputeNode', nodeId) }),
    name: t.exposeString('name', { description: 'Name of the node.' }),
    cluster: t.exposeString('cluster', { description: 'Cluster that the agent reports.' }),
    state: t.expose('state', { type: AgentState, description: 'State of the agent.' }),
    stateSince: t.field({
      type: 'DateTime',
      description: 'When the state last changed.',
      resolve: ({ stateSince }) => new Date(stateSince),
    }),
    receivedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last heartbeat was received; null before the first.',
      resolve: ({ receivedAt }) => (receivedAt === null ? null : new Date(receivedAt)),
    }),
    sequence: t.expose('sequence', { type: 'BigInt', nullable: true, description: 'Sequence number of the last heartbeat.' }),
    skewMs: t.exposeInt('skewMs', {
      nullable: true,
      description: 'Clock of the agent minus clock of the database; positive when the agent is ahead.',
    }),
    health: t.field({
      type: ReportedHealth,
      nullable: true,
      description: 'Health of the node.',
      resolve: ({ health }) => health as typeof ReportedHealth.$inferType | null,
    }),
    cpuPercent: t.exposeFloat('cpuPercent', { nullable: true, description: 'CPU utilization.' }),
    memoryPercent: t.exposeFloat('memoryPercent', { nullable: true, description: 'Memory utilization.' }),
  }),
})
