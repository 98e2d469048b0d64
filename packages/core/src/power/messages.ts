import { defineMessages } from '../kernel/messages.ts'

/** Why a node cannot be powered. */
export const powerMessages = defineMessages('power', {
  noBmc: 'The node {node} has no BMC. Set it with `muster bmc set {node}`.',
  decommissioned: 'The node {node} is decommissioned.',
})
