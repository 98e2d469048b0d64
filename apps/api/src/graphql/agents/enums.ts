import { REASONS } from '@muster/core/agents'
import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const AgentState = builder.enumType('AgentState', {
  description: 'State of an agent, derived from its heartbeats.',
  values: same({
    PENDING: 'Registered, no heartbeat received yet.',
    ACTIVE: 'Heartbeats arrive in time.',
    STALE: 'No heartbeat for `AgentSettings.staleAfterSeconds`.',
    DRAINING: 'The node gets no new jobs; some still run.',
    DRAINED: 'The node gets no new jobs; none runs.',
    OFFLINE: 'No heartbeat for `AgentSettings.offlineAfterSeconds`.',
    DEREGISTERED: 'Removed permanently. The node can be enrolled again with a new key.',
  }),
})

export const AgentReason = builder.enumType('AgentReason', {
  description: 'Reason of a state change of an agent.',
  values: upper(REASONS),
})

export const AgentKeyStatus = builder.enumType('AgentKeyStatus', {
  description: 'Whether heartbeats signed with a key are accepted.',
  values: same({
    ALLOWED: 'Accepted.',
    WAITING: 'Rejected until a user approves the key.',
    REVOKED: 'Rejected permanently.',
  }),
})

export const ReportedHealth = builder.enumType('AgentReportedHealth', {
  description: 'Health of a node as reported by its agent.',
  values: upper({
    healthy: 'No problem found.',
    degraded: 'Works with limitations.',
    unhealthy: 'Does not work correctly.',
    draining: 'Gets no new jobs.',
    offline: 'Shuts down.',
  }),
})

export const InterfaceKind = builder.enumType('AgentReportedInterfaceKind', {
  description: 'Kind of network of an interface.',
  values: upper({ ethernet: 'Ethernet.', infiniband: 'InfiniBand.' }),
})
