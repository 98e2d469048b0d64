import { REASONS } from '@muster/core/agents'
import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const AgentState = builder.enumType('AgentState', {
  description: "What is made of a node's heartbeats.",
  values: same({
    PENDING: 'Registered, but not heard yet.',
    ACTIVE: 'Heard in time.',
    STALE: 'Late: nothing was heard for a while.',
    DRAINING: 'It is to take no more jobs, and still has some.',
    DRAINED: 'It is to take no more jobs, and has none left.',
    OFFLINE: 'Nothing was heard for so long that it is given up.',
    DEREGISTERED: 'Taken out for good; it comes back only with a new identity.',
  }),
})

export const AgentReason = builder.enumType('AgentReason', {
  description: 'Why the state of an agent changed.',
  values: upper(REASONS),
})

export const AgentKeyStatus = builder.enumType('AgentKeyStatus', {
  description: 'Whether heartbeats that are signed with a key count.',
  values: same({
    ALLOWED: 'They do.',
    WAITING: 'Not yet: somebody has to approve it.',
    REVOKED: 'Not any more, for good.',
  }),
})
