import { agentAudit, updateAgentSettings } from '@muster/core/agents'
import { given } from '../../shared/ids.ts'
import { mutation } from '../../shared/mutation.ts'
import { AgentSettings } from './types.ts'

mutation('updateAgentSettings', {
  action: agentAudit.updateSettings,
  description: 'Changes the heartbeat interval and the state thresholds of the tenant. Omitted fields keep their values.',
  input: (t) => ({
    heartbeatIntervalSeconds: t.int({
      description: 'Requested heartbeat interval, 1 to 3600. Agents receive it in the response to their next heartbeat.',
    }),
    staleAfterSeconds: t.int({
      description: 'Time without a heartbeat until an agent is STALE; at least twice the heartbeat interval.',
    }),
    offlineAfterSeconds: t.int({
      description: 'Time without a heartbeat until an agent is OFFLINE; greater than `staleAfterSeconds`.',
    }),
    massOutagePercent: t.int({
      description: 'Share of the agents of the tenant or of a cluster above which a mass outage is assumed, 1 to 100.',
    }),
    massOutageMinNodes: t.int({ description: 'Minimum number of silent nodes in a mass outage, 2 or more.' }),
    deregisterAfterDays: t.int({
      description: 'Days in OFFLINE after which an agent is deregistered automatically; null disables it.',
    }),
  }),
  payload: { agentSettings: { type: AgentSettings, description: 'The settings.' } },
  resolve: async ({ deregisterAfterDays, ...rest }, { ctx }) => ({
    // Only `deregisterAfterDays` can be cleared with null.
    agentSettings: await updateAgentSettings(ctx, {
      ...given(rest),
      ...(deregisterAfterDays === undefined ? {} : { deregisterAfterDays }),
    }),
  }),
})
