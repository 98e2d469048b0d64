import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { actorColumns, authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { lockNodes } from '../nodes/index.ts'
import { agentNotFoundOrConflict, agentOf } from './agent-lookup.ts'
import { applyStateTransitions } from './apply-state-transitions.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { drainAgentBlockedReason } from './policy.ts'
import { drainInSlurm } from './slurm-drains.ts'
import { type Agent, agents } from './tables.ts'

export const DrainAgentInput = z.object({ nodeId: Id, reason: singleLineText(200) })

/**
 * Requests that a node gets no more work: its agent becomes DRAINING, and DRAINED when its last job has ended. An agent that is
 * not ACTIVE is drained when it becomes ACTIVE. Runs that change the node are refused until it is DRAINED. Slurm clusters that have the node
 * are asked to drain it, for which the caller needs the permission. A drain that failed there can be requested again.
 * @throws NotFound, Conflict when it is deregistered, a drain was already requested, or a cluster has no controller node
 * @throws Forbidden the caller may not drain the node in Slurm
 */
export async function drainAgent(ctx: Ctx, input: z.input<typeof DrainAgentInput>): Promise<Agent> {
  authorizeSomewhere(ctx, agentPermissions.write)
  const { nodeId, reason } = parseInput(DrainAgentInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, agentPermissions.write, [nodeId])
    // Starts of runs hold a share lock on the node: a run is enqueued before the drain, or sees it.
    await lockNodes(tx, ctx, [nodeId])
    const [agent] = await tx.select().from(agents).where(agentOf(ctx, nodeId)).for('update')
    if (!agent || drainAgentBlockedReason(ctx.actor, agent))
      throw await agentNotFoundOrConflict(tx, ctx, nodeId, (now) => drainAgentBlockedReason(ctx.actor, now))
    const slurmDrains = await drainInSlurm(tx, ctx, nodeId, reason, agent.drainRequestedAt ? agent.slurmDrains : [])
    await tx
      .update(agents)
      .set({ drainRequestedAt: sql`now()`, ...actorColumns(ctx, 'drainRequested'), drainReason: reason, slurmDrains })
      .where(agentOf(ctx, nodeId))
    await audit(tx, ctx, agentAudit.drain, { id: nodeId, name: agent.agentId }, { reason })
    const { changeEvents } = await applyStateTransitions(tx, [nodeId])
    for (const changeEvent of changeEvents) ctx.notify(changeEvent)
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    const [updated] = await tx.select().from(agents).where(agentOf(ctx, nodeId))
    return updated!
  })
}
