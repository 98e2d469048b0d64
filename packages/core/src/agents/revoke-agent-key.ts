import { and, eq, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { resolveAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { agentKeyAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { revokeAgentKeyBlockedReason } from './policy.ts'
import { type AgentKey, agentKeys } from './tables.ts'
import { keyFingerprint } from './trust.ts'

export const RevokeAgentKeyInput = z.object({ id: Id, reason: singleLineText(200) })

/**
 * Revokes a key permanently, from the next heartbeat on; also rejects a waiting key.
 * @throws NotFound, Conflict when it is already revoked
 */
export async function revokeAgentKey(ctx: Ctx, input: z.input<typeof RevokeAgentKeyInput>): Promise<AgentKey> {
  authorize(ctx, agentPermissions.trust)
  const { id, reason } = parseInput(RevokeAgentKeyInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [key] = await tx
      .update(agentKeys)
      .set(revoked(ctx, reason))
      .where(and(visibleTo(ctx, agentKeys), eq(agentKeys.id, id), ne(agentKeys.status, 'REVOKED')))
      .returning()
    if (!key) throw await notFoundOrConflict(tx, ctx, agentKeys, id, 'key', (row) => revokeAgentKeyBlockedReason(ctx.actor, row))
    await audit(tx, ctx, agentKeyAudit.revoke, { id, name: keyFingerprint(key.publicKey) }, { nodeId: key.nodeId, reason })
    if (key.nodeId) {
      for (const changeEvent of await resolveKeyAlert(tx, ctx, key.nodeId)) ctx.notify(changeEvent)
      ctx.notify(nodeChanged({ id: key.nodeId, tenantId: ctx.tenantId }))
    }
    return key
  })
}

/** Revokes all keys of a node, or all but one. */
export async function revokeKeysOf(tx: Tx, ctx: Ctx, nodeId: string, reason: string, exceptId?: string): Promise<void> {
  await tx
    .update(agentKeys)
    .set(revoked(ctx, reason))
    .where(
      and(
        visibleTo(ctx, agentKeys),
        eq(agentKeys.nodeId, nodeId),
        ne(agentKeys.status, 'REVOKED'),
        exceptId ? ne(agentKeys.id, exceptId) : undefined,
      ),
    )
}

/** Resolves the alert for a changed key when no key waits. @returns change events to send after the commit */
export async function resolveKeyAlert(tx: Tx, ctx: Ctx, nodeId: string) {
  const [waiting] = await tx
    .select({ id: agentKeys.id })
    .from(agentKeys)
    .where(and(visibleTo(ctx, agentKeys), eq(agentKeys.nodeId, nodeId), eq(agentKeys.status, 'WAITING')))
    .limit(1)
  return waiting ? [] : resolveAlerts(tx, [{ tenantId: ctx.tenantId, nodeId, kinds: ['key_changed'] }])
}

const revoked = (ctx: Ctx, reason: string) => ({
  status: 'REVOKED' as const,
  revokedAt: sql`now()`,
  ...actorColumns(ctx, 'revoked'),
  revokedReason: reason,
})
