import { type Actor, deniedEverywhereReason, permissionDeniedReason } from '../kernel/context.ts'
import { agentPermissions } from './permissions.ts'
import type { Agent, AgentEnrollmentToken, AgentKey } from './tables.ts'

type Known = Pick<Agent, 'agentId' | 'state'>

const gone = (agent: Known) =>
  agent.state === 'DEREGISTERED' ? `The agent ${agent.agentId} is deregistered. Enroll the node again.` : null

/** Why the requested drain failed in Slurm; null when it did not. */
export const drainError = ({ slurmDrains }: Pick<Agent, 'slurmDrains'>): string | null =>
  slurmDrains.flatMap(({ failure }) => failure?.message ?? []).join(' ') || null

/** Why `actor` may not drain this agent's node; null when allowed. A drain that failed in Slurm may be repeated. */
export function drainAgentBlockedReason(
  actor: Actor,
  agent: Known & Pick<Agent, 'drainRequestedAt' | 'slurmDrains'>,
): string | null {
  const denied = deniedEverywhereReason(actor, agentPermissions.write)
  if (denied) return denied
  const isDraining = agent.drainRequestedAt && !drainError(agent)
  return gone(agent) ?? (isDraining ? `The agent ${agent.agentId} is already being drained.` : null)
}

/** Why `actor` may not resume this agent; null when allowed. */
export function resumeAgentBlockedReason(actor: Actor, agent: Known & Pick<Agent, 'drainRequestedAt'>): string | null {
  const denied = deniedEverywhereReason(actor, agentPermissions.write)
  if (denied) return denied
  if (gone(agent)) return gone(agent)
  if (agent.drainRequestedAt) return null
  return agent.state === 'DRAINING' || agent.state === 'DRAINED'
    ? `Slurm drains the node of the agent ${agent.agentId}. Resume it in Slurm.`
    : `No drain of the agent ${agent.agentId} is requested; it is ${agent.state}.`
}

/** Why `actor` may not deregister this agent; null when allowed. */
export function deregisterAgentBlockedReason(actor: Actor, agent: Known): string | null {
  const denied = deniedEverywhereReason(actor, agentPermissions.write)
  if (denied) return denied
  return agent.state === 'DEREGISTERED' ? `The agent ${agent.agentId} is already deregistered.` : null
}

/** Why `actor` may not reset this agent's sequence; null when allowed. */
export function resetSequenceBlockedReason(actor: Actor, agent: Known): string | null {
  const denied = deniedEverywhereReason(actor, agentPermissions.write)
  if (denied) return denied
  return gone(agent)
}

/** Why `actor` may not approve this agent's change, `waitingKeys` keys or another fingerprint; null when allowed. */
export function approveAgentChangeBlockedReason(
  actor: Actor,
  agent: Known & Pick<Agent, 'offeredFingerprint'>,
  waitingKeys: number,
): string | null {
  const denied = permissionDeniedReason(actor, agentPermissions.trust)
  if (denied) return denied
  if (gone(agent)) return gone(agent)
  return waitingKeys === 0 && !agent.offeredFingerprint ? `No change of the agent ${agent.agentId} waits for approval.` : null
}

/** Why `actor` may not revoke this key; null when allowed. */
export function revokeAgentKeyBlockedReason(actor: Actor, key: Pick<AgentKey, 'status'>): string | null {
  const denied = permissionDeniedReason(actor, agentPermissions.trust)
  if (denied) return denied
  return key.status === 'REVOKED' ? 'The key is already revoked.' : null
}

export const ENROLLMENT_TOKEN_STATES = ['USABLE', 'USED', 'EXPIRED', 'REVOKED'] as const
export type EnrollmentTokenState = (typeof ENROLLMENT_TOKEN_STATES)[number]
type TokenFacts = Pick<AgentEnrollmentToken, 'usedAt' | 'expiresAt' | 'revokedAt'>

/** State of an enrollment token. */
export function enrollmentTokenState({ usedAt, expiresAt, revokedAt }: TokenFacts): EnrollmentTokenState {
  if (usedAt) return 'USED'
  if (revokedAt) return 'REVOKED'
  return expiresAt > new Date() ? 'USABLE' : 'EXPIRED'
}

/** Why `actor` may not revoke this token; null when allowed. */
export function revokeEnrollmentTokenBlockedReason(
  actor: Actor,
  token: TokenFacts & Pick<AgentEnrollmentToken, 'prefix'>,
): string | null {
  const denied = permissionDeniedReason(actor, agentPermissions.trust)
  if (denied) return denied
  const over = {
    USABLE: null,
    USED: `The token ${token.prefix}… was already used. To reject its agent, revoke the key of the agent.`,
    EXPIRED: `The token ${token.prefix}… has expired.`,
    REVOKED: `The token ${token.prefix}… is already revoked.`,
  }
  return over[enrollmentTokenState(token)]
}
