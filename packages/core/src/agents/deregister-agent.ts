import { and, eq, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { ALERT_KINDS, resolveAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { actorColumns, authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { agentNotFoundOrConflict, agentOf } from './agent-lookup.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { deregisterAgentBlockedReason } from './policy.ts'
import { revokeKeysOf } from './revoke-agent-key.ts'
import { type Agent, agents, agentTransitions } from './tables.ts'

export const DeregisterAgentInput = z.object({ nodeId: Id, reason: singleLineText(200).nullish() })

/**
 * Deregisters an agent: revokes its keys and rejects its messages. The node may be enrolled again with a new key.
 * @throws NotFound, Conflict when it is already deregistered
 */
export async function deregisterAgent(ctx: Ctx, input: z.input<typeof DeregisterAgentInput>): Promise<Agent> {
  authorizeSomewhere(ctx, agentPermissions.write)
  const { nodeId, reason } = parseInput(DeregisterAgentInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, agentPermissions.write, [nodeId])
    const [before] = await tx
      .select()
      .from(agents)
      .where(and(agentOf(ctx, nodeId), ne(agents.state, 'DEREGISTERED')))
      .for('update')
    if (!before) throw await agentNotFoundOrConflict(tx, ctx, nodeId, (now) => deregisterAgentBlockedReason(ctx.actor, now))
    const [agent] = await tx
      .update(agents)
      .set({ state: 'DEREGISTERED', stateSince: sql`now()`, stateReason: 'deregistered', offlineSuppressedAt: null })
      .where(eq(agents.nodeId, nodeId))
      .returning()
    await revokeKeysOf(tx, ctx, nodeId, 'the agent was deregistered')
    await tx.insert(agentTransitions).values({
      tenantId: ctx.tenantId,
      nodeId,
      from: before.state,
      to: 'DEREGISTERED',
      reason: 'deregistered',
      evidence: { ...actorColumns(ctx, 'requested'), ...(reason ? { reason } : {}) },
      at: sql`now()`,
    })
    for (const changeEvent of await resolveAlerts(tx, [{ tenantId: ctx.tenantId, nodeId, kinds: ALERT_KINDS }]))
      ctx.notify(changeEvent)
    await audit(tx, ctx, agentAudit.deregister, { id: nodeId, name: before.agentId }, { state: before.state, reason })
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    return agent!
  })
}
