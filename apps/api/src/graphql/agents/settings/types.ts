import type { AgentSettings as Row } from '@muster/core/agents'
import { agentPermissions } from '@muster/core/agents'
import { permissionDeniedReason } from '@muster/core/context'
import { builder } from '../../../builder.ts'

export const AgentSettings = builder.objectRef<Omit<Row, 'tenantId' | 'updatedAt'>>('AgentSettings').implement({
  description: 'How often the tenant’s agents beat, and how their silence is judged.',
  fields: (t) => ({
    heartbeatIntervalSeconds: t.exposeInt('heartbeatIntervalSeconds', {
      description: 'Seconds between heartbeats that agents are asked for.',
    }),
    staleAfterSeconds: t.exposeInt('staleAfterSeconds', { description: 'Seconds of silence after which an agent is STALE.' }),
    offlineAfterSeconds: t.exposeInt('offlineAfterSeconds', { description: 'Seconds of silence after which it is OFFLINE.' }),
    massOutagePercent: t.exposeInt('massOutagePercent', {
      description: 'When more than this share of the tenant or of a cluster is silent at once, the fault is taken for ours.',
    }),
    massOutageMinNodes: t.exposeInt('massOutageMinNodes', { description: 'And at least so many nodes.' }),
    deregisterAfterDays: t.exposeInt('deregisterAfterDays', {
      nullable: true,
      description: 'Days OFFLINE after which an agent is deregistered by itself; null: never.',
    }),
    changeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change it; null: allowed.',
      resolve: (_settings, _args, { ctx }) => permissionDeniedReason(ctx.actor, agentPermissions.settings),
    }),
  }),
})
