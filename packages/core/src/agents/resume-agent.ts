import { and, isNotNull, ne } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { parseInput } from '../errors.ts'
import { judge } from './judge.ts'
import { whyNotResumeAgent } from './policy.ts'
import { type Agent, agents } from './tables.ts'
import { agentOf, ByNode, whyNoAgent } from './whose-agent.ts'

/**
 * Take back a drain. A node that Slurm drains stays DRAINING until Slurm resumes it.
 * @throws NotFound, Conflict nobody asked for a drain, or it is deregistered
 */
export async function resumeAgent(ctx: Ctx, input: z.input<typeof ByNode>): Promise<Agent> {
  authorize(ctx, 'agent:write')
  const { nodeId } = parseInput(ByNode, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [agent] = await tx
      .update(agents)
      .set({ drainRequestedAt: null, drainRequestedByName: null, drainReason: null })
      .where(and(agentOf(ctx, nodeId), ne(agents.state, 'DEREGISTERED'), isNotNull(agents.drainRequestedAt)))
      .returning()
    if (!agent) throw await whyNoAgent(tx, ctx, nodeId, (now) => whyNotResumeAgent(ctx.actor, now))
    await audit(tx, ctx, 'agent.resume', { id: nodeId, name: agent.agentId })
    const { nudges } = await judge(tx, [nodeId])
    for (const nudge of nudges) afterwards(nudge)
    afterwards({ topic: 'node', id: nodeId, tenantId: ctx.tenantId })
    const [judged] = await tx.select().from(agents).where(agentOf(ctx, nodeId))
    return judged!
  })
}
