import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const NodeStatus = builder.enumType('NodeStatus', {
  description: 'Whether a node can be worked with, derived from what was last seen of it.',
  values: same({
    NEW: 'Added, but no connection test has succeeded yet.',
    READY: 'Reachable with its credential and approved host key.',
    UNREACHABLE: 'It was reachable and now is not, or its host key changed.',
    MAINTENANCE: 'Taken out of service for a while by an operator.',
    DECOMMISSIONED: 'Taken out of service for good; only purging removes it.',
  }),
})

export const NodeType = builder.enumType('NodeType', {
  description: 'What a node is for.',
  values: same({
    COMPUTE: 'Runs workloads.',
    LOGIN: 'Where users log in.',
    CONTROLLER: 'Runs schedulers and other control services.',
    STORAGE: 'Serves files or objects.',
    OTHER: 'Anything else.',
  }),
})

export const ConnectionType = builder.enumType('ConnectionType', {
  description: 'How a node is reached.',
  values: upper({ ssh: 'Over SSH.', local: 'It is the machine of the worker itself. Only admins may add such a node.' }),
})

export const NodeOrderField = builder.enumType('NodeOrderField', {
  description: 'What nodes can be ordered by.',
  values: same({
    NAME: 'Their name.',
    CREATED_AT: 'When they were added.',
    LAST_SEEN_AT: 'When they last answered; never counts as the earliest.',
    STATUS: 'Their status, by its name.',
  }),
})
