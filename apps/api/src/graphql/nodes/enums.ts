import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const NodeStatus = builder.enumType('NodeStatus', {
  description: 'Availability of a node over SSH.',
  values: same({
    NEW: 'No connection test has succeeded yet.',
    READY: 'Reachable with its credential and approved host key.',
    UNREACHABLE: 'The last connection failed, or the host key changed.',
    MAINTENANCE: 'In maintenance, set by an operator, or by a run that may reboot the node.',
    DECOMMISSIONED: 'Permanently out of service. Only a decommissioned node can be purged.',
  }),
})

export const NodeType = builder.enumType('NodeType', {
  description: 'Role of a node in the cluster.',
  values: same({
    COMPUTE: 'Runs workloads.',
    LOGIN: 'Login node for users.',
    CONTROLLER: 'Runs schedulers and other control services.',
    STORAGE: 'Serves files or objects.',
    OTHER: 'Any other role.',
  }),
})

export const ConnectionType = builder.enumType('ConnectionType', {
  description: 'Transport to a node.',
  values: upper({ ssh: 'SSH.', local: 'The machine of the worker itself. Only admins may add such a node.' }),
})

export const NodeOrderField = builder.enumType('NodeOrderField', {
  description: 'Sort key of a list of nodes.',
  values: same({
    NAME: 'Name.',
    CREATED_AT: 'Time of creation.',
    LAST_SEEN_AT: 'Time of the last response; nodes without one sort first.',
    STATUS: 'Name of the status.',
  }),
})
