import type { LiveBeat } from '../../agents-live.ts'
import { builder } from '../../builder.ts'
import { AgentState } from '../agents/enums.ts'
import { globalId } from '../shared/ids.ts'

export const Heartbeat = builder.objectRef<LiveBeat>('Heartbeat').implement({
  description: 'A node as its agent tells of it now.',
  fields: (t) => ({
    nodeId: t.id({ description: 'Id of the node.', resolve: ({ nodeId }) => globalId('ComputeNode', nodeId) }),
    name: t.exposeString('name', { description: 'Name of the node.' }),
    cluster: t.exposeString('cluster', { description: 'The cluster that it says it is in.' }),
    state: t.expose('state', { type: AgentState, description: 'What we make of its heartbeats.' }),
    stateSince: t.field({ type: 'DateTime', description: 'Since when.', resolve: ({ stateSince }) => new Date(stateSince) }),
    receivedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its last heartbeat was accepted, by our clock; null: none was.',
      resolve: ({ receivedAt }) => (receivedAt === null ? null : new Date(receivedAt)),
    }),
    sequence: t.expose('sequence', { type: 'BigInt', nullable: true, description: 'Number of that heartbeat.' }),
    skewMs: t.exposeInt('skewMs', { nullable: true, description: 'How far its clock runs ahead of ours, in ms.' }),
    health: t.exposeString('health', { nullable: true, description: 'How the node itself says it is.' }),
    cpuPercent: t.exposeFloat('cpuPercent', { nullable: true, description: 'Use of its processors, in percent.' }),
    memoryPercent: t.exposeFloat('memoryPercent', { nullable: true, description: 'Use of its memory, in percent.' }),
  }),
})
