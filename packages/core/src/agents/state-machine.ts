import { AGENT_STATES, type AgentState } from './tables.ts'

/** Facts about an agent, by the database's clock. Heartbeats missed while the API was down do not count. */
export type AgentFacts = {
  /** A heartbeat arrived within the STALE threshold. */
  isHeard: boolean
  /** No heartbeat within the STALE threshold; none within the OFFLINE threshold. */
  isStale: boolean
  isSilent: boolean
  /** Part of a mass outage. */
  isInMassOutage: boolean
  /** A drain was requested; Slurm drains it. */
  isDrainRequested: boolean
  isSlurmDrain: boolean
  /** The drain is complete: it is known that the node has no jobs left, and Slurm starts none. */
  isDrained: boolean
  /** OFFLINE for the tenant's deregistration period. */
  isAged: boolean
  /** The node is decommissioned. */
  isDecommissioned: boolean
}

export type AgentReason = keyof typeof REASONS
/** Reasons of state changes, in words. */
export const REASONS = {
  registered: 'The agent registered.',
  registered_again: 'The agent registered again.',
  first_heartbeat: 'The first heartbeat arrived.',
  no_first_heartbeat: 'No heartbeat arrived after the registration.',
  missed: 'Heartbeats are missing.',
  silent: 'No heartbeats arrived until the offline threshold.',
  heartbeats_resumed: 'Heartbeats resumed.',
  drain_requested: 'A drain was requested.',
  slurm_drains: 'Slurm drains the node.',
  jobs_ended: 'No jobs are running on the node.',
  drain_canceled: 'The drain was canceled.',
  deregistered: 'The agent was deregistered.',
  decommissioned: 'The node was decommissioned.',
  aged: 'The agent was offline longer than the tenant’s limit.',
} as const

export type Rule = {
  from: AgentState
  to: AgentState
  reason: AgentReason
  /** All facts must be true, or false with a leading `!`. */
  when: readonly (keyof AgentFacts | `!${keyof AgentFacts}`)[]
}

const LIVE_STATES = AGENT_STATES.filter((state) => state !== 'DEREGISTERED')

/**
 * The complete state machine: the first matching rule of a state applies. apply-state-transitions.ts compiles the rules
 * to one SQL expression. Not included are transitions by verbs: deregister from any state, and register from OFFLINE to PENDING.
 */
export const RULES: readonly Rule[] = [
  ...LIVE_STATES.map((from): Rule => ({ from, to: 'DEREGISTERED', reason: 'decommissioned', when: ['isDecommissioned'] })),
  { from: 'PENDING', to: 'ACTIVE', reason: 'first_heartbeat', when: ['isHeard'] },
  { from: 'PENDING', to: 'OFFLINE', reason: 'no_first_heartbeat', when: ['isSilent', '!isInMassOutage'] },
  { from: 'ACTIVE', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isInMassOutage'] },
  { from: 'ACTIVE', to: 'STALE', reason: 'missed', when: ['isStale'] },
  { from: 'ACTIVE', to: 'DRAINING', reason: 'drain_requested', when: ['isDrainRequested'] },
  { from: 'ACTIVE', to: 'DRAINING', reason: 'slurm_drains', when: ['isSlurmDrain'] },
  { from: 'STALE', to: 'ACTIVE', reason: 'heartbeats_resumed', when: ['isHeard'] },
  { from: 'STALE', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isInMassOutage'] },
  { from: 'DRAINING', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isInMassOutage'] },
  { from: 'DRAINING', to: 'ACTIVE', reason: 'drain_canceled', when: ['!isDrainRequested', '!isSlurmDrain'] },
  { from: 'DRAINING', to: 'DRAINED', reason: 'jobs_ended', when: ['isDrained'] },
  { from: 'DRAINED', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isInMassOutage'] },
  { from: 'DRAINED', to: 'ACTIVE', reason: 'drain_canceled', when: ['!isDrainRequested', '!isSlurmDrain'] },
  { from: 'OFFLINE', to: 'ACTIVE', reason: 'heartbeats_resumed', when: ['isHeard'] },
  { from: 'OFFLINE', to: 'DEREGISTERED', reason: 'aged', when: ['isAged'] },
]

/** The rule that applies to an agent in `state` with `facts`; null when none does. */
export function nextState(state: AgentState, facts: AgentFacts): Pick<Rule, 'to' | 'reason'> | null {
  const holds = (name: Rule['when'][number]) =>
    name.startsWith('!') ? !facts[name.slice(1) as keyof AgentFacts] : facts[name as keyof AgentFacts]
  return RULES.find(({ from, when }) => from === state && when.every(holds)) ?? null
}
