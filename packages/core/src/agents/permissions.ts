import { definePermissions } from '../kernel/permissions.ts'

export const agentPermissions = definePermissions('agent', {
  /** Enrollment tokens, agent keys and changed hardware. */
  trust: 'operator',
  /** Drain, resume, deregister, reset the sequence. */
  write: 'operator',
  /** Thresholds after which a silent agent is STALE or OFFLINE. */
  settings: 'admin',
  register: 'agent',
  reconcile: 'system',
})
