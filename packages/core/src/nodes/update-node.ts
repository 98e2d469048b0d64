import { isDeepStrictEqual } from 'node:util'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes, watchGroups } from '../groups/index.ts'
import { authorize, authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { nodeAudit } from './audit-actions.ts'
import { nodeChanged } from './change-events.ts'
import { authorizeConnectionType, checkReferences, NODE_FIELDS } from './fields.ts'
import { fingerprint } from './host-key.ts'
import { identityConflict } from './identity-conflict.ts'
import { nodePermissions } from './permissions.ts'
import { updateBlockedReason } from './policy.ts'
import { type ComputeNode, computeNodes } from './tables.ts'
import { replaceInterfaces } from './write-interfaces.ts'

const { displayName, sshUser, region, datacenter, rack, rackPosition, xname, nid, managementIp, ...others } = NODE_FIELDS
const { credentialId, becomeCredentialId, bastionId, ...required } = others

export const UpdateNodeInput = z.object({
  id: Id,
  ...z.object(required).partial().shape,
  ...{ displayName, sshUser, region, datacenter, rack, rackPosition, xname, nid, managementIp },
  ...{ credentialId, becomeCredentialId, bastionId },
})

/** Values of a node when another machine may answer at its address. It becomes NEW. */
const UNKNOWN = {
  hostKey: null,
  hostKeyApprovedAt: null,
  offeredHostKey: null,
  offeredHostKeyAt: null,
  readyAt: null,
  unreachableSince: null,
  unreachableReason: null,
}

/**
 * Changes the given fields; null clears a field. Another host, port or connection type drops the pinned host key and makes the
 * node NEW; the audit entry keeps the old address and fingerprint. `interfaces` replaces all interfaces.
 * @throws InvalidInput, Forbidden, NotFound
 * @throws Conflict the node is decommissioned, or the name, xname, NID or a MAC is taken
 */
export async function updateNode(ctx: Ctx, input: z.input<typeof UpdateNodeInput>): Promise<ComputeNode> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { id, interfaces, ...fields } = parseInput(UpdateNodeInput, input)
  authorizeConnectionType(ctx, fields.connectionType)
  const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields
  const work = inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNull(computeNodes.decommissionedAt))
    const [before] = await tx.select().from(computeNodes).where(scope).for('no key update')
    if (!before) throw await notFoundOrConflict(tx, ctx, computeNodes, id, 'node', (row) => updateBlockedReason(ctx.actor, row))
    await authorizeNodes(tx, ctx, nodePermissions.write, [id])
    // Whoever may not make a local node may not turn one to other work either.
    authorizeConnectionType(ctx, before.connectionType)
    // A form may send the credentials that the node has already.
    const attached = Object.fromEntries(
      (['credentialId', 'becomeCredentialId', 'bastionId'] as const).flatMap((field) =>
        changes[field] === before[field] ? [] : [[field, changes[field]]],
      ),
    )
    await checkReferences(tx, ctx, attached, { host: changes.host ?? before.host, nodeId: id })
    await authorizeNodes(tx, ctx, nodePermissions.write, [id], { credentialIds: Object.values(attached) })
    const isChanged = (field: 'host' | 'port' | 'connectionType' | 'xname' | 'nid') =>
      changes[field] !== undefined && changes[field] !== before[field]
    const isMoved = isChanged('host') || isChanged('port') || isChanged('connectionType')
    // Whoever holds the permission only for some nodes cannot make another machine one of them, to which their credentials would be sent.
    if (isMoved) authorize(ctx, nodePermissions.write)
    // Nor can they make a machine boot as one of them.
    if (isChanged('xname') || isChanged('nid')) authorize(ctx, nodePermissions.write)
    const assertSameGroups = await watchGroups(tx, ctx, [id])
    const [node] = await tx
      .update(computeNodes)
      .set({ ...changes, ...(isMoved ? UNKNOWN : {}), updatedAt: sql`now()` })
      .where(scope)
      .returning()
    const oldInterfaces = interfaces && (await replaceInterfaces(tx, ctx, id, interfaces))
    const isRewired = oldInterfaces !== undefined && !isDeepStrictEqual(oldInterfaces, interfaces)
    if (isRewired) authorize(ctx, nodePermissions.write)
    await assertSameGroups()
    const differing = Object.keys(changes)
      .filter((field) => JSON.stringify(before[field as keyof ComputeNode]) !== JSON.stringify(node![field as keyof ComputeNode]))
      .concat(isRewired ? ['interfaces'] : [])
      .sort()
    await audit(tx, ctx, nodeAudit.update, node!, {
      changed: differing,
      ...(isMoved ? { from: { host: before.host, port: before.port }, to: { host: node!.host, port: node!.port } } : {}),
      ...(isRewired ? { macs: { from: oldInterfaces.map(({ mac }) => mac), to: interfaces!.map(({ mac }) => mac) } } : {}),
      ...(isMoved && before.hostKey ? { droppedHostKey: fingerprint(before.hostKey) } : {}),
    })
    ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    return node!
  })
  return work.catch(async (error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw await identityConflict(ctx.db, ctx, changes, id)
    throw error
  })
}
