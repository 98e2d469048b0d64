export { acceptHeartbeats, type BeatVerdict, type SignedBeat } from './accept-heartbeats.ts'
export { AllowAgentKeyInput, allowAgentKey } from './allow-agent-key.ts'
export { ApproveAgentChangeInput, approveAgentChange } from './approve-agent-change.ts'
export { CreateEnrolmentTokenInput, createEnrolmentToken } from './create-enrolment-token.ts'
export { DeregisterAgentInput, deregisterAgent } from './deregister-agent.ts'
export { DrainAgentInput, drainAgent } from './drain-agent.ts'
export type { Registration } from './enrol-agent.ts'
export { findAgents, type KnownAgent } from './find-agents.ts'
export { judgeAgents } from './judge-agents.ts'
export { keepAgentHistory } from './keep-agent-history.ts'
export {
  ENROLMENT_TOKEN_STATES,
  type EnrolmentTokenState,
  enrolmentTokenState,
  whyNotApproveAgentChange,
  whyNotDeregisterAgent,
  whyNotDrainAgent,
  whyNotResetSequence,
  whyNotResumeAgent,
  whyNotRevokeAgentKey,
  whyNotRevokeEnrolmentToken,
} from './policy.ts'
export { registerAgent } from './register-agent.ts'
export { resetAgentSequence } from './reset-agent-sequence.ts'
export { resumeAgent } from './resume-agent.ts'
export { RevokeAgentKeyInput, revokeAgentKey } from './revoke-agent-key.ts'
export { revokeEnrolmentToken } from './revoke-enrolment-token.ts'
export { DEFAULT_SETTINGS, readAgentSettings, readHeartbeatIntervals } from './settings.ts'
export { type AgentFacts, type AgentReason, nextState, REASONS, RULES, type Rule } from './state-machine.ts'
export {
  AGENT_KEY_STATUSES,
  AGENT_STATES,
  type Agent,
  type AgentBeat,
  type AgentBeatBucket,
  type AgentEnrolmentToken,
  type AgentKey,
  type AgentKeyStatus,
  type AgentSettings,
  type AgentSilence,
  type AgentState,
  type AgentTransition,
  agentBeatHistory,
  agentBeats,
  agentEnrolmentTokens,
  agentIngest,
  agentKeys,
  agentReports,
  agentSettings,
  agentSilences,
  agents,
  agentTransitions,
  type SaidDrain,
} from './tables.ts'
export { touchIngest } from './touch-ingest.ts'
export { type AgentVerdict, agentTrust, keyFingerprint } from './trust.ts'
export { UpdateAgentSettingsInput, updateAgentSettings } from './update-agent-settings.ts'
export { ByNode } from './whose-agent.ts'
