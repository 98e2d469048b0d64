import type { AgentSettings as Row } from '@muster/core/agents'
import { agentPermissions } from '@muster/core/agents'
import { permissionDeniedReason } from '@muster/core/context'
import { builder } from '../../../builder.ts'

export const AgentSettings = builder.objectRef<Omit<Row, 'tenantId' | 'updatedAt'>>('AgentSettings').implement({
  description: 'Heartbeat interval and state thresholds of a tenant.',
  fields: (t) => ({
    heartbeatIntervalSeconds: t.exposeInt('heartbeatIntervalSeconds', {
      description: 'Heartbeat interval that the API requests from agents.',
    }),
    staleAfterSeconds: t.exposeInt('staleAfterSeconds', { description: 'Time without a heartbeat until an agent is STALE.' }),
    offlineAfterSeconds: t.exposeInt('offlineAfterSeconds', {
      description: 'Time without a heartbeat until an agent is OFFLINE.',
    }),
    massOutagePercent: t.exposeInt('massOutagePercent', {
      description:
        'Share of the agents of the tenant or of a cluster. When more stop sending heartbeats at once, a mass outage is assumed and OFFLINE is suppressed.',
    }),
    massOutageMinNodes: t.exposeInt('massOutageMinNodes', { description: 'Minimum number of silent nodes in a mass outage.' }),
    deregisterAfterDays: t.exposeInt('deregisterAfterDays', {
      nullable: true,
      description: 'Days in OFFLINE after which an agent is deregistered automatically; null when disabled.',
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change the settings; null when allowed.',
      resolve: (_settings, _args, { ctx }) => permissionDeniedReason(ctx.actor, agentPermissions.settings),
    }),
  }),
})
