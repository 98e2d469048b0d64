import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { agentPermissions } from './permissions.ts'
import type { Agent, AgentEnrollmentToken, AgentKey } from './tables.ts'

type Known = Pick<Agent, 'agentId' | 'state'>

const gone = (agent: Known) =>
  agent.state === 'DEREGISTERED' ? `The agent ${agent.agentId} is deregistered; enroll the node anew.` : null

/** Why `actor` may not drain this agent's node; null when allowed. */
export function drainAgentBlockedReason(actor: Actor, agent: Known & Pick<Agent, 'drainRequestedAt'>): string | null {
  const refused = permissionDeniedReason(actor, agentPermissions.write)
  if (refused) return `Draining an agent: ${refused}.`
  return gone(agent) ?? (agent.drainRequestedAt ? `The agent ${agent.agentId} is to be drained already.` : null)
}

/** Why `actor` may not resume this agent; null when allowed. */
export function resumeAgentBlockedReason(actor: Actor, agent: Known & Pick<Agent, 'drainRequestedAt'>): string | null {
  const refused = permissionDeniedReason(actor, agentPermissions.write)
  if (refused) return `Resuming an agent: ${refused}.`
  if (gone(agent)) return gone(agent)
  if (agent.drainRequestedAt) return null
  return agent.state === 'DRAINING' || agent.state === 'DRAINED'
    ? `Slurm drains the node of the agent ${agent.agentId}, and nobody here asked for it; resume it in Slurm.`
    : `Nobody asked for the agent ${agent.agentId} to be drained; it is ${agent.state}.`
}

/** Why `actor` may not deregister this agent; null when allowed. */
export function deregisterAgentBlockedReason(actor: Actor, agent: Known): string | null {
  const refused = permissionDeniedReason(actor, agentPermissions.write)
  if (refused) return `Deregistering an agent: ${refused}.`
  return agent.state === 'DEREGISTERED' ? `The agent ${agent.agentId} is already deregistered.` : null
}

/** Why `actor` may not reset this agent's sequence; null when allowed. */
export function resetSequenceBlockedReason(actor: Actor, agent: Known): string | null {
  const refused = permissionDeniedReason(actor, agentPermissions.write)
  if (refused) return `Resetting a sequence: ${refused}.`
  return gone(agent)
}

/** Why `actor` may not approve this agent's change, `waitingKeys` keys or another fingerprint; null when allowed. */
export function approveAgentChangeBlockedReason(
  actor: Actor,
  agent: Known & Pick<Agent, 'offeredFingerprint'>,
  waitingKeys: number,
): string | null {
  const refused = permissionDeniedReason(actor, agentPermissions.trust)
  if (refused) return `Approving a change: ${refused}.`
  if (gone(agent)) return gone(agent)
  return waitingKeys === 0 && !agent.offeredFingerprint ? `Nothing of the agent ${agent.agentId} waits for approval.` : null
}

/** Why `actor` may not revoke this key; null when allowed. */
export function revokeAgentKeyBlockedReason(actor: Actor, key: Pick<AgentKey, 'status'>): string | null {
  const refused = permissionDeniedReason(actor, agentPermissions.trust)
  if (refused) return `Revoking a key: ${refused}.`
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
  const refused = permissionDeniedReason(actor, agentPermissions.trust)
  if (refused) return `Revoking a token: ${refused}.`
  const over = {
    USABLE: null,
    USED: `The token ${token.prefix}… was used already; to shut out the agent that came with it, revoke its key.`,
    EXPIRED: `The token ${token.prefix}… has expired already.`,
    REVOKED: `The token ${token.prefix}… is already revoked.`,
  }
  return over[enrollmentTokenState(token)]
}
