import type { AgentState } from './tables.ts'

/**
 * What is known of an agent at one moment, by the database's clock. Silence does not count while heartbeats could not arrive.
 */
export type AgentFacts = {
  /** Heard within the time after which it would be stale. */
  isHeard: boolean
  /** Silent for longer than that; silent for longer than that after which it is offline. */
  isStale: boolean
  isSilent: boolean
  /** So many are silent with it that the silence is taken for a fault of ours. */
  isHeld: boolean
  /** Somebody asked for a drain, or Slurm drains it. */
  isDrainAsked: boolean
  isSlurmDrain: boolean
  /** What drains it is done: no job of the node is left. */
  isDrained: boolean
  /** OFFLINE for as many days as the tenant keeps such agents. */
  isAged: boolean
}

export type AgentReason = keyof typeof REASONS
/** Why an agent's state changed, in words. */
export const REASONS = {
  registered: 'It registered.',
  registered_again: 'It registered again.',
  first_heartbeat: 'Its first heartbeat came.',
  never_heard: 'It registered, and no heartbeat came.',
  missed: 'Its heartbeats stay away.',
  silent: 'Its heartbeats have stayed away for long.',
  heard_again: 'A heartbeat came again.',
  drain_requested: 'Somebody asked for it to be drained.',
  slurm_drains: 'Slurm drains the node.',
  jobs_ended: 'No job is left on the node.',
  drain_over: 'Nobody wants it drained any more.',
  deregistered: 'Somebody deregistered it.',
  aged: 'It was offline for as long as the tenant keeps such agents.',
} as const

export type Rule = {
  from: AgentState
  to: AgentState
  reason: AgentReason
  /** All of these hold; with `!` before it, it does not. */
  when: readonly (keyof AgentFacts | `!${keyof AgentFacts}`)[]
}

/**
 * The state machine, whole. Of the rules of a state the first that fits holds; judge-agents writes them as one SQL expression, so that
 * there is no second table to keep in step. Only what verbs do by themselves is not here: deregister from any state, and register
 * from OFFLINE back to PENDING.
 */
export const RULES: readonly Rule[] = [
  { from: 'PENDING', to: 'ACTIVE', reason: 'first_heartbeat', when: ['isHeard'] },
  { from: 'PENDING', to: 'OFFLINE', reason: 'never_heard', when: ['isSilent', '!isHeld'] },
  { from: 'ACTIVE', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isHeld'] },
  { from: 'ACTIVE', to: 'STALE', reason: 'missed', when: ['isStale'] },
  { from: 'ACTIVE', to: 'DRAINING', reason: 'drain_requested', when: ['isDrainAsked'] },
  { from: 'ACTIVE', to: 'DRAINING', reason: 'slurm_drains', when: ['isSlurmDrain'] },
  { from: 'STALE', to: 'ACTIVE', reason: 'heard_again', when: ['isHeard'] },
  { from: 'STALE', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isHeld'] },
  { from: 'DRAINING', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isHeld'] },
  { from: 'DRAINING', to: 'ACTIVE', reason: 'drain_over', when: ['!isDrainAsked', '!isSlurmDrain'] },
  { from: 'DRAINING', to: 'DRAINED', reason: 'jobs_ended', when: ['isDrained'] },
  { from: 'DRAINED', to: 'OFFLINE', reason: 'silent', when: ['isSilent', '!isHeld'] },
  { from: 'DRAINED', to: 'ACTIVE', reason: 'drain_over', when: ['!isDrainAsked', '!isSlurmDrain'] },
  { from: 'OFFLINE', to: 'ACTIVE', reason: 'heard_again', when: ['isHeard'] },
  { from: 'OFFLINE', to: 'DEREGISTERED', reason: 'aged', when: ['isAged'] },
]

/** What becomes of an agent in `state` of which `facts` are known; null: it stays. */
export function nextState(state: AgentState, facts: AgentFacts): Pick<Rule, 'to' | 'reason'> | null {
  const holds = (name: Rule['when'][number]) =>
    name.startsWith('!') ? !facts[name.slice(1) as keyof AgentFacts] : facts[name as keyof AgentFacts]
  return RULES.find(({ from, when }) => from === state && when.every(holds)) ?? null
}
