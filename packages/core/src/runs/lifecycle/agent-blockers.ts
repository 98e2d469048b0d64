import { eq } from 'drizzle-orm'
import { type Agent, agents } from '../../agents/tables.ts'
import { agentHeartbeats } from '../../heartbeats/tables.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf } from '../../kernel/db/rows.ts'

type AgentOfNode = Pick<Agent, 'state' | 'stateSince' | 'drainRequestedAt' | 'drainRequestedByName' | 'drainReason'> & {
  runningJobs: number | null
}

/** The agents of these nodes, by node ID. Nodes without an agent are absent. */
export async function agentsOfNodes(db: Ctx['db'] | Tx, nodeIds: string[]): Promise<Map<string, AgentOfNode>> {
  const rows = await db
    .select({
      nodeId: agents.nodeId,
      state: agents.state,
      stateSince: agents.stateSince,
      drainRequestedAt: agents.drainRequestedAt,
      drainRequestedByName: agents.drainRequestedByName,
      drainReason: agents.drainReason,
      runningJobs: agentHeartbeats.runningJobs,
    })
    .from(agents)
    .leftJoin(agentHeartbeats, eq(agentHeartbeats.nodeId, agents.nodeId))
    .where(isOneOf(agents.nodeId, nodeIds))
  return new Map(rows.map((row) => [row.nodeId, row]))
}

/**
 * Why a run that changes the node must wait for the end of its drain; null when it need not. A drained node accepts changes: that is what
 * drains are for.
 * @param drainsItself the run waits for the jobs itself, so that only a drain that a user requested blocks it
 */
export function drainBlockedReason(agent: AgentOfNode | undefined, drainsItself: boolean): string | null {
  // A run includes an OFFLINE node only when its caller wants that: to repair a node that the drain was requested for.
  if (!agent || agent.state === 'DEREGISTERED' || agent.state === 'OFFLINE') return null
  const { state, drainRequestedAt, drainRequestedByName, drainReason, runningJobs } = agent
  const isDrained = state === 'DRAINED' && !runningJobs
  if (isDrained) return null
  const jobs = runningJobs === null ? 'the number of running jobs is unknown' : `running jobs: ${runningJobs}`
  if (drainRequestedAt) return `draining for ${drainRequestedByName} (${drainReason}), ${jobs}; wait until drained, or resume`
  if (drainsItself || (state !== 'DRAINING' && state !== 'DRAINED')) return null
  return `Slurm is draining, ${jobs}; wait until drained, or resume in Slurm`
}

/** Why a run skips the node, unless it includes such nodes; null when it does not. */
export function skipReason(agent: AgentOfNode | undefined): string | null {
  if (agent?.state !== 'OFFLINE') return null
  return `Skipped: the agent has been OFFLINE since ${agent.stateSince.toISOString().slice(0, 16).replace('T', ' ')} UTC.`
}
