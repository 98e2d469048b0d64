import { defineAuditActions } from '../audit/index.ts'

export const agentAudit = defineAuditActions('agent', [
  'approveChange',
  'deregister',
  'drain',
  'offerFingerprint',
  'offerKey',
  'register',
  'resetSequence',
  'resume',
  'updateSettings',
])
export const agentEnrollmentTokenAudit = defineAuditActions('agent_enrollment_token', ['create', 'revoke'])
export const agentKeyAudit = defineAuditActions('agent_key', ['allow', 'revoke'])
