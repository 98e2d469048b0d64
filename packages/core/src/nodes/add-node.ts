import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { credentialPermissions } from '../credentials/permissions.ts'
import { watchGroups } from '../groups/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { nodeAudit } from './audit-actions.ts'
import { NewBmc } from './bmc/fields.ts'
import { insertBmcs } from './bmc/write-bmcs.ts'
import { nodeChanged } from './change-events.ts'
import { authorizeConnectionType, checkReferences, NODE_FIELDS } from './fields.ts'
import { fingerprint, HostKey } from './host-key.ts'
import { identityConflict } from './identity-conflict.ts'
import { assertNodeQuota } from './node-quota.ts'
import { nodePermissions } from './permissions.ts'
import { type ComputeNode, computeNodes } from './tables.ts'
import { insertInterfaces } from './write-interfaces.ts'

/** A new node's fields. */
export const NewNode = z.object({
  ...NODE_FIELDS,
  // Many clients send null for empty form fields.
  port: NODE_FIELDS.port.nullish().transform((port) => port ?? 22),
  connectionType: NODE_FIELDS.connectionType.nullish().transform((type) => type ?? 'ssh'),
  nodeType: NODE_FIELDS.nodeType.nullish().transform((type) => type ?? 'COMPUTE'),
  tags: NODE_FIELDS.tags.nullish().transform((tags) => tags ?? []),
  labels: NODE_FIELDS.labels.nullish().transform((labels) => labels ?? {}),
  interfaces: NODE_FIELDS.interfaces.nullish().transform((interfaces) => interfaces ?? []),
  bmc: NewBmc.nullish(),
  notes: NODE_FIELDS.notes.nullish().transform((notes) => notes ?? ''),
  /** Host key that is known in advance, `type base64`; it is pinned immediately. */
  hostKey: HostKey.nullish(),
})

export const AddNodeInput = NewNode.extend({ idempotencyKey: IdempotencyKey })

/**
 * Adds a node. It is NEW until a connection test succeeds.
 * @throws InvalidInput, Forbidden (connection type local requires an admin)
 * @throws Conflict the name, xname, NID, a MAC or the BMC is taken, or the tenant's quota of nodes is reached
 */
export async function addNode(ctx: Ctx, input: z.input<typeof AddNodeInput>): Promise<ComputeNode> {
  authorize(ctx, nodePermissions.write)
  const { idempotencyKey, ...fields } = parseInput(AddNodeInput, input)
  authorizeConnectionType(ctx, fields.connectionType)
  if (fields.hostKey) {
    authorize(ctx, nodePermissions.approveHostKey)
    authorize(ctx, credentialPermissions.use)
  }
  return idempotent(
    ctx,
    { verb: 'addNode', key: idempotencyKey, input: fields, result: oneRow(computeNodes) },
    async (tx, ctx) => {
      await checkReferences(tx, ctx, fields, { host: fields.host })
      if (fields.bmc) {
        const at = { bmcCredentialId: 'bmc.credentialId' }
        await checkReferences(tx, ctx, { bmcCredentialId: fields.bmc.credentialId }, { host: fields.bmc.address, at })
      }
      const assertNotInGrant = await watchGroups(tx, ctx, [])
      const { interfaces, bmc, ...columns } = fields
      const [node] = await tx
        .insert(computeNodes)
        .values({ ...columns, tenantId: ctx.tenantId, hostKeyApprovedAt: fields.hostKey ? sql`now()` : null })
        .onConflictDoNothing()
        .returning()
      if (!node) throw await identityConflict(tx, ctx, fields)
      await insertInterfaces(tx, ctx, [{ id: node.id, interfaces }])
      await insertBmcs(tx, ctx, [{ id: node.id, bmc }])
      await assertNodeQuota(tx, ctx)
      await assertNotInGrant([node.id])
      await audit(tx, ctx, nodeAudit.add, node, {
        host: node.host,
        port: node.port,
        ...(node.hostKey ? { hostKey: fingerprint(node.hostKey) } : {}),
      })
      ctx.notify(nodeChanged({ id: node.id, tenantId: ctx.tenantId }))
      return node
    },
  )
}
