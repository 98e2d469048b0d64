import { and, eq, ne, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import { authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { agentNotFoundOrConflict, agentOf, ByNode } from './agent-lookup.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { resetSequenceBlockedReason } from './policy.ts'
import { type Agent, agents } from './tables.ts'

/**
 * Allows an agent to restart its sequence at 1, for agents that lose their sequence at start. Earlier heartbeats stay rejected, because they
 * are older than the last accepted one.
 * @throws NotFound, Conflict when it is deregistered
 */
export async function resetAgentSequence(ctx: Ctx, input: z.input<typeof ByNode>): Promise<Agent> {
  authorizeSomewhere(ctx, agentPermissions.write)
  const { nodeId } = parseInput(ByNode, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, agentPermissions.write, [nodeId])
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
 * Accepts any sequence in the next heartbeat, which must be newer than the last one.
 * @param which `without an epoch` limits it to agents that send no boot epoch, which lose their sequence at start
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
