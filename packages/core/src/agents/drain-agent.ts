import { and, isNull, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { parseInput } from '../errors.ts'
import { Id, oneLine } from '../input.ts'
import { judge } from './judge.ts'
import { whyNotDrainAgent } from './policy.ts'
import { type Agent, agents } from './tables.ts'
import { agentOf, whyNoAgent } from './whose-agent.ts'

export const DrainAgentInput = z.object({ nodeId: Id, reason: oneLine(200) })

/**
 * Ask for a node to get no more work: its agent is DRAINING, and DRAINED when its last job has ended. One that is not ACTIVE now
 * is drained when it is again.
 * @throws NotFound, Conflict it is deregistered, or to be drained already
 */
export async function drainAgent(ctx: Ctx, input: z.input<typeof DrainAgentInput>): Promise<Agent> {
  authorize(ctx, 'agent:write')
  const { nodeId, reason } = parseInput(DrainAgentInput, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [agent] = await tx
      .update(agents)
      .set({ drainRequestedAt: sql`now()`, drainRequestedByName: ctx.actor.name, drainReason: reason })
      .where(and(agentOf(ctx, nodeId), ne(agents.state, 'DEREGISTERED'), isNull(agents.drainRequestedAt)))
      .returning()
    if (!agent) throw await whyNoAgent(tx, ctx, nodeId, (now) => whyNotDrainAgent(ctx.actor, now))
    await audit(tx, ctx, 'agent.drain', { id: nodeId, name: agent.agentId }, { reason })
    const { nudges } = await judge(tx, [nodeId])
    for (const nudge of nudges) afterwards(nudge)
    afterwards({ topic: 'node', id: nodeId, tenantId: ctx.tenantId })
    const [judged] = await tx.select().from(agents).where(agentOf(ctx, nodeId))
    return judged!
  })
}
