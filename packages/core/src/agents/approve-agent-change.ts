import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { resolveAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { agentNotFoundOrConflict, agentOf } from './agent-lookup.ts'
import { agentAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { approveAgentChangeBlockedReason } from './policy.ts'
import { revokeKeysOf } from './revoke-agent-key.ts'
import { type Agent, agentKeys, agents } from './tables.ts'

export const ApproveAgentChangeInput = z
  .object({
    nodeId: Id,
    /** ID of the waiting key that was compared. */
    keyId: Id.nullish(),
    /** The agent's hardware fingerprint that was compared. */
    fingerprint: z.string().max(128, 'must have at most 128 characters').nullish(),
  })
  .refine(({ keyId, fingerprint }) => keyId || fingerprint, 'must have keyId, fingerprint or both')

/**
 * Approves an agent's new key, new hardware, or both. Its previous key is revoked.
 * @throws NotFound
 * @throws Conflict when the agent is deregistered, or the key or fingerprint changed since the comparison
 */
export async function approveAgentChange(ctx: Ctx, input: z.input<typeof ApproveAgentChangeInput>): Promise<Agent> {
  authorize(ctx, agentPermissions.trust)
  const { nodeId, keyId, fingerprint } = parseInput(ApproveAgentChangeInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [before] = await tx.select().from(agents).where(agentOf(ctx, nodeId)).for('update')
    const blockedReason = (now: Agent) => approveAgentChangeBlockedReason(ctx.actor, now, keyId ? 1 : 0)
    if (!before || before.state === 'DEREGISTERED') throw await agentNotFoundOrConflict(tx, ctx, nodeId, blockedReason)
    if (keyId) {
      const [key] = await tx
        .update(agentKeys)
        .set({ status: 'ALLOWED', approvedAt: sql`now()`, ...actorColumns(ctx, 'approved') })
        .where(
          and(visibleTo(ctx, agentKeys), eq(agentKeys.id, keyId), eq(agentKeys.nodeId, nodeId), eq(agentKeys.status, 'WAITING')),
        )
        .returning()
      if (!key)
        throw new InvalidInput([
          { path: 'keyId', message: `No such key of ${before.agentId} waits for approval. Reload the agent and try again.` },
        ])
      await revokeKeysOf(tx, ctx, nodeId, 'another key was approved', keyId)
    }
    if (fingerprint && before.offeredFingerprint !== fingerprint)
      throw new Conflict(`${before.agentId} no longer reports this fingerprint. Reload the agent and compare again.`)
    const [agent] = await tx
      .update(agents)
      .set({
        ...(keyId ? { keyId } : {}),
        ...(fingerprint ? { fingerprint, offeredFingerprint: null, offeredFingerprintAt: null } : {}),
      })
      .where(eq(agents.nodeId, nodeId))
      .returning()
    const kinds = [...(keyId ? (['key_changed'] as const) : []), ...(fingerprint ? (['fingerprint_changed'] as const) : [])]
    for (const changeEvent of await resolveAlerts(tx, [{ tenantId: ctx.tenantId, nodeId, kinds }])) ctx.notify(changeEvent)
    await audit(tx, ctx, agentAudit.approveChange, { id: nodeId, name: before.agentId }, { keyId, fingerprint })
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    return agent!
  })
}
