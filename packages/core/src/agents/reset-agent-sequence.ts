import { and, eq, ne, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction, type Tx } from '../context.ts'
import { parseInput } from '../errors.ts'
import { whyNotResetSequence } from './policy.ts'
import { type Agent, agentBeats, agents } from './tables.ts'
import { agentOf, ByNode, whyNoAgent } from './whose-agent.ts'

/**
 * Let an agent count from 1 again: for those in the field that forget their sequence when they start. Heartbeats from before stay
 * unacceptable, because they were made before the last one that was accepted.
 * @throws NotFound, Conflict it is deregistered
 */
export async function resetAgentSequence(ctx: Ctx, input: z.input<typeof ByNode>): Promise<Agent> {
  authorize(ctx, 'agent:write')
  const { nodeId } = parseInput(ByNode, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [agent] = await tx
      .select()
      .from(agents)
      .where(and(agentOf(ctx, nodeId), ne(agents.state, 'DEREGISTERED')))
      .for('update')
    if (!agent) throw await whyNoAgent(tx, ctx, nodeId, (now) => whyNotResetSequence(ctx.actor, now))
    await beginSequenceAnew(tx, nodeId)
    await audit(tx, ctx, 'agent.reset_sequence', { id: nodeId, name: agent.agentId })
    afterwards({ topic: 'node', id: nodeId, tenantId: ctx.tenantId })
    return agent
  })
}

/**
 * The next heartbeat may have any sequence, and must have been made later than the last one.
 * @param which with `without an epoch`, only of an agent that tells no boot epoch: such a one forgets its sequence when it starts
 */
export async function beginSequenceAnew(tx: Tx, nodeId: string, which: 'any' | 'without an epoch' = 'any'): Promise<void> {
  await tx
    .update(agentBeats)
    .set({ bootEpoch: null, sequence: null, notBefore: sql`greatest(${agentBeats.notBefore}, ${agentBeats.agentTime})` })
    .where(and(eq(agentBeats.nodeId, nodeId), which === 'any' ? undefined : eq(agentBeats.bootEpoch, 0)))
}
