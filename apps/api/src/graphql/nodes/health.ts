import type { NodeHealth as Health } from '@muster/core/nodes'
import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const NodeHealthStatus = builder.enumType('NodeHealthStatus', {
  description: 'Overall health of a node.',
  values: same({
    HEALTHY: 'SSH, agent and accelerators report no problem.',
    DEGRADED: 'The node works but needs attention: missed heartbeats or an accelerator with a warning.',
    UNHEALTHY: 'The node is unreachable, its agent is offline, or an accelerator is critical or lost.',
    UNKNOWN: 'Not tested yet, or decommissioned.',
  }),
})

export const NodeHealth = builder.objectRef<Health>('NodeHealth').implement({
  description: 'Overall health of a node: the worst of SSH, agent and accelerators.',
  fields: (t) => ({
    status: t.expose('status', { type: NodeHealthStatus, description: 'Worst status.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Reason for the status; null when HEALTHY.' }),
  }),
})
