import { and, isNotNull, ne } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { agentNotFoundOrConflict, agentOf, ByNode } from './agent-lookup.ts'
import { applyStateTransitions } from './apply-state-transitions.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { resumeAgentBlockedReason } from './policy.ts'
import { resumeInSlurm } from './slurm-drains.ts'
import { type Agent, agents } from './tables.ts'

/**
 * Cancels a drain, also in Slurm where Muster requested it and its reason is unchanged: drains of others stay. A node that Slurm drains
 * stays DRAINING until Slurm resumes it.
 * @throws NotFound, Conflict when no drain was requested, the agent is deregistered, or the drain in Slurm has not been executed yet
 * @throws Forbidden the caller may not resume the node in Slurm
 */
export async function resumeAgent(ctx: Ctx, input: z.input<typeof ByNode>): Promise<Agent> {
  authorizeSomewhere(ctx, agentPermissions.write)
  const { nodeId } = parseInput(ByNode, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, agentPermissions.write, [nodeId])
    const [before] = await tx.select().from(agents).where(agentOf(ctx, nodeId)).for('update')
    const [agent] = await tx
      .update(agents)
      .set({ slurmDrains: [], drainRequestedAt: null, drainRequestedById: null, drainRequestedByName: null, drainReason: null })
      .where(and(agentOf(ctx, nodeId), ne(agents.state, 'DEREGISTERED'), isNotNull(agents.drainRequestedAt)))
      .returning()
    if (!agent) throw await agentNotFoundOrConflict(tx, ctx, nodeId, (now) => resumeAgentBlockedReason(ctx.actor, now))
    await resumeInSlurm(tx, ctx, before!.slurmDrains)
    await audit(tx, ctx, agentAudit.resume, { id: nodeId, name: agent.agentId })
    const { changeEvents } = await applyStateTransitions(tx, [nodeId])
    for (const changeEvent of changeEvents) ctx.notify(changeEvent)
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    const [updated] = await tx.select().from(agents).where(agentOf(ctx, nodeId))
    return updated!
  })
}
