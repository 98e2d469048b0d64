export { ByNode } from './agent-lookup.ts'
export { AllowAgentKeyInput, allowAgentKey } from './allow-agent-key.ts'
export { applyStateTransitions, INGEST_DOWN_AFTER_SECONDS } from './apply-state-transitions.ts'
export { ApproveAgentChangeInput, approveAgentChange } from './approve-agent-change.ts'
export { agentAudit, agentEnrollmentTokenAudit, agentKeyAudit } from './audit-actions.ts'
export { CreateEnrollmentTokenInput, createEnrollmentToken } from './create-enrollment-token.ts'
export { DeregisterAgentInput, deregisterAgent } from './deregister-agent.ts'
export { DrainAgentInput, drainAgent } from './drain-agent.ts'
export type { Registration } from './enroll-agent.ts'
export { type CachedAgent, findAgents } from './find-agents.ts'
export { agentPermissions } from './permissions.ts'
export {
  approveAgentChangeBlockedReason,
  deregisterAgentBlockedReason,
  drainAgentBlockedReason,
  drainError,
  ENROLLMENT_TOKEN_STATES,
  type EnrollmentTokenState,
  enrollmentTokenState,
  resetSequenceBlockedReason,
  resumeAgentBlockedReason,
  revokeAgentKeyBlockedReason,
  revokeEnrollmentTokenBlockedReason,
} from './policy.ts'
export { reconcileAgentStates } from './reconcile-agent-states.ts'
export { registerAgent } from './register-agent.ts'
export { resetAgentSequence } from './reset-agent-sequence.ts'
export { resumeAgent } from './resume-agent.ts'
export { RevokeAgentKeyInput, revokeAgentKey } from './revoke-agent-key.ts'
export { revokeEnrollmentToken } from './revoke-enrollment-token.ts'
export { DEFAULT_SETTINGS, readAgentSettings, readHeartbeatIntervals } from './settings.ts'
export { slurmNodesOf } from './slurm-drains.ts'
export { type AgentFacts, type AgentReason, nextState, REASONS, RULES, type Rule } from './state-machine.ts'
export {
  AGENT_KEY_STATUSES,
  AGENT_STATES,
  type Agent,
  type AgentEnrollmentToken,
  type AgentKey,
  type AgentKeyStatus,
  type AgentOutage,
  type AgentSettings,
  type AgentState,
  type AgentTransition,
  agentEnrollmentTokens,
  agentKeys,
  agentOutages,
  agentSettings,
  agents,
  agentTransitions,
  type SlurmDrain,
} from './tables.ts'
export { type AgentVerdict, agentTrust, keyFingerprint } from './trust.ts'
export { UpdateAgentSettingsInput, updateAgentSettings } from './update-agent-settings.ts'
