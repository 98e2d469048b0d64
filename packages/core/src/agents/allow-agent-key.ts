import { InvalidKeyError, NodeId, publicKey } from '@muster/protocol'
import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { actorColumns, authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, multilineText } from '../kernel/input.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes } from '../nodes/tables.ts'
import { agentKeyAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { resolveKeyAlert } from './revoke-agent-key.ts'
import { type AgentKey, agentKeys } from './tables.ts'
import { keyFingerprint } from './trust.ts'

export const AllowAgentKeyInput = z.object({
  /** 32 bytes in base64, as `muster-agent init` prints it. */
  publicKey: z.string().trim().max(64, 'must have at most 64 characters'),
  /** The key's node. Null: the first node that registers with it. */
  nodeId: Id.nullish(),
  /** The agent's id when it is not the node's name. An agent that does not sign its first registration must use this id. */
  agentId: NodeId.nullish(),
  note: multilineText(500).nullish(),
  idempotencyKey: IdempotencyKey,
})

/**
 * Allows a public key, so that its agent may register without a token. For a node with an agent this starts a key rotation: the
 * old keys stay valid until the agent registers with the new one.
 * @throws InvalidInput when it is not an Ed25519 public key, or the node does not exist
 * @throws Conflict when it is revoked, or belongs to another node
 */
export async function allowAgentKey(ctx: Ctx, input: z.input<typeof AllowAgentKeyInput>): Promise<AgentKey> {
  authorize(ctx, agentPermissions.trust)
  const { idempotencyKey, ...given } = parseInput(AllowAgentKeyInput, input)
  const { nodeId = null, agentId = null, note } = given
  const base64 = checkedKey(given.publicKey)
  return idempotent(
    ctx,
    { verb: 'allowAgentKey', key: idempotencyKey, input: given, result: oneRow(agentKeys) },
    async (tx, ctx) => {
      if (nodeId) await checkNode(tx, ctx, nodeId)
      const allowed = { status: 'ALLOWED' as const, approvedAt: sql`now()`, ...actorColumns(ctx, 'approved'), note: note ?? '' }
      const same = and(visibleTo(ctx, agentKeys), eq(agentKeys.publicKey, base64))
      const [before] = await tx.select().from(agentKeys).where(same).for('update')
      const [key] = await tx
        .insert(agentKeys)
        .values({ ...allowed, tenantId: ctx.tenantId, nodeId, agentId, publicKey: base64, ...createdBy(ctx) })
        .onConflictDoUpdate({
          target: [agentKeys.tenantId, agentKeys.publicKey],
          set: {
            ...allowed,
            nodeId: sql`coalesce(${agentKeys.nodeId}, excluded.node_id)`,
            agentId: sql`coalesce(excluded.agent_id, ${agentKeys.agentId})`,
          },
          setWhere: sql`${agentKeys.status} <> 'REVOKED' and (${agentKeys.nodeId} is null or excluded.node_id is null
          or ${agentKeys.nodeId} = excluded.node_id)`,
        })
        .returning()
      if (!key) {
        const [now] = await tx.select().from(agentKeys).where(same)
        throw new Conflict(
          now?.status === 'REVOKED'
            ? 'This key is revoked permanently. Create a new one with `muster-agent init` on the node.'
            : 'This key belongs to another node. Every node needs its own key.',
        )
      }
      await audit(
        tx,
        ctx,
        agentKeyAudit.allow,
        { id: key.id, name: keyFingerprint(base64) },
        { nodeId: key.nodeId, agentId: key.agentId },
        { change: changeOf(agentKeys, before ?? null, key) },
      )
      if (key.nodeId) {
        for (const changeEvent of await resolveKeyAlert(tx, ctx, key.nodeId)) ctx.notify(changeEvent)
        ctx.notify(nodeChanged({ id: key.nodeId, tenantId: ctx.tenantId }))
      }
      return key
    },
  )
}

function checkedKey(text: string): string {
  try {
    return publicKey(text).base64
  } catch (error) {
    if (error instanceof InvalidKeyError) throw new InvalidInput([{ path: 'publicKey', message: error.message }])
    throw error
  }
}

/** @throws InvalidInput at `nodeId` */
export async function checkNode(tx: Pick<Ctx['db'], 'select'>, ctx: Ctx, nodeId: string): Promise<void> {
  const [node] = await tx
    .select({ name: computeNodes.name, decommissionedAt: computeNodes.decommissionedAt })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, nodeId)))
  if (!node) throw new InvalidInput([{ path: 'nodeId', message: `there is no node ${nodeId}` }])
  if (node.decommissionedAt)
    throw new InvalidInput([{ path: 'nodeId', message: `The node ${node.name} is decommissioned; recommission it first.` }])
}
