import { definePermissions } from '../kernel/permissions.ts'

export const agentPermissions = definePermissions('agent', {
  trust: ['operator', 'Create enrollment tokens, allow agent keys, accept changed hardware.'],
  write: ['operator', 'Drain, resume and deregister agents, and reset their sequence.', 'perNode'],
  settings: ['admin', 'Set the thresholds after which a silent agent is STALE or OFFLINE.'],
  register: ['agent', 'Register an agent.'],
  reconcile: ['system', 'Update the states of agents.'],
})
