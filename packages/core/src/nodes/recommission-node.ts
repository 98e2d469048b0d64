import { and, eq, isNotNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { nodeAudit } from './audit-actions.ts'
import { nodeChanged } from './change-events.ts'
import { assertNodeQuota } from './node-quota.ts'
import { nodePermissions } from './permissions.ts'
import { type ComputeNode, computeNodes } from './tables.ts'

/**
 * Returns a decommissioned node to service. It is NEW until a connection test succeeds; its pinned host key stays valid.
 * @throws NotFound, Conflict it is in service, or the tenant's quota of nodes is reached
 */
export async function recommissionNode(ctx: Ctx, input: z.input<typeof IdInput>): Promise<ComputeNode> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, nodePermissions.write, [id])
    const [node] = await tx
      .update(computeNodes)
      .set({ decommissionedAt: null, maintenanceAt: null, readyAt: null, unreachableSince: null, unreachableReason: null })
      .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNotNull(computeNodes.decommissionedAt)))
      .returning()
    if (!node)
      throw await notFoundOrConflict(
        tx,
        ctx,
        computeNodes,
        id,
        'node',
        (row) => `The node ${row.name} is in service already (${row.status}).`,
      )
    await assertNodeQuota(tx, ctx)
    await audit(tx, ctx, nodeAudit.recommission, node)
    ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    return node
  })
}
