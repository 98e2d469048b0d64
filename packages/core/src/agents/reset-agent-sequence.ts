import { and, eq, ne, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { agentNotFoundOrConflict, agentOf, ByNode } from './agent-lookup.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { resetSequenceBlockedReason } from './policy.ts'
import { type Agent, agents } from './tables.ts'

/**
 * Let an agent count from 1 again: for those in the field that forget their sequence when they start. Heartbeats from before stay
 * unacceptable, because they were made before the last one that was accepted.
 * @throws NotFound, Conflict it is deregistered
 */
export async function resetAgentSequence(ctx: Ctx, input: z.input<typeof ByNode>): Promise<Agent> {
  authorize(ctx, agentPermissions.write)
  const { nodeId } = parseInput(ByNode, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [agent] = await tx
      .select()
      .from(agents)
      .where(and(agentOf(ctx, nodeId), ne(agents.state, 'DEREGISTERED')))
      .for('update')
    if (!agent) throw await agentNotFoundOrConflict(tx, ctx, nodeId, (now) => resetSequenceBlockedReason(ctx.actor, now))
    await resetSequence(tx, nodeId)
    await audit(tx, ctx, agentAudit.resetSequence, { id: nodeId, name: agent.agentId })
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    return agent
  })
}

/**
 * The next heartbeat may have any sequence, and must have been made later than the last one.
 * @param which with `without an epoch`, only of an agent that tells no boot epoch: such a one forgets its sequence when it starts
 */
export async function resetSequence(tx: Tx, nodeId: string, which: 'any' | 'without an epoch' = 'any'): Promise<void> {
  await tx
    .update(agentHeartbeats)
    .set({
      bootEpoch: null,
      sequence: null,
      notBefore: sql`greatest(${agentHeartbeats.notBefore}, ${agentHeartbeats.agentTime})`,
    })
    .where(and(eq(agentHeartbeats.nodeId, nodeId), which === 'any' ? undefined : eq(agentHeartbeats.bootEpoch, 0)))
}
