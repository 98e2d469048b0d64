import { and, eq, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { ALERT_KINDS, resolveAlerts } from '../alerts/index.ts'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { parseInput } from '../errors.ts'
import { Id, oneLine } from '../input.ts'
import { whyNotDeregisterAgent } from './policy.ts'
import { revokeKeysOf } from './revoke-agent-key.ts'
import { type Agent, agents, agentTransitions } from './tables.ts'
import { agentOf, whyNoAgent } from './whose-agent.ts'

export const DeregisterAgentInput = z.object({ nodeId: Id, reason: oneLine(200).nullish() })

/**
 * End an agent for good: its keys are revoked, and nothing that it sends counts any more. The node may be enrolled again, with a new
 * key.
 * @throws NotFound, Conflict it is deregistered already
 */
export async function deregisterAgent(ctx: Ctx, input: z.input<typeof DeregisterAgentInput>): Promise<Agent> {
  authorize(ctx, 'agent:write')
  const { nodeId, reason } = parseInput(DeregisterAgentInput, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [before] = await tx
      .select()
      .from(agents)
      .where(and(agentOf(ctx, nodeId), ne(agents.state, 'DEREGISTERED')))
      .for('update')
    if (!before) throw await whyNoAgent(tx, ctx, nodeId, (now) => whyNotDeregisterAgent(ctx.actor, now))
    const [agent] = await tx
      .update(agents)
      .set({ state: 'DEREGISTERED', stateSince: sql`now()`, stateReason: 'deregistered', heldAt: null })
      .where(eq(agents.nodeId, nodeId))
      .returning()
    await revokeKeysOf(tx, ctx, nodeId, 'the agent was deregistered')
    await tx.insert(agentTransitions).values({
      tenantId: ctx.tenantId,
      nodeId,
      from: before.state,
      to: 'DEREGISTERED',
      reason: 'deregistered',
      evidence: { by: ctx.actor.name, ...(reason ? { why: reason } : {}) },
      at: sql`now()`,
    })
    for (const nudge of await resolveAlerts(tx, [{ tenantId: ctx.tenantId, nodeId, kinds: ALERT_KINDS }])) afterwards(nudge)
    await audit(tx, ctx, 'agent.deregister', { id: nodeId, name: before.agentId }, { state: before.state, reason })
    afterwards({ topic: 'node', id: nodeId, tenantId: ctx.tenantId })
    return agent!
  })
}
