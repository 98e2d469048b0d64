import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { nodeAudit } from './audit-actions.ts'
import { nodeChanged } from './change-events.ts'
import { nodePermissions } from './permissions.ts'
import { updateBlockedReason } from './policy.ts'
import { type ComputeNode, computeNodes } from './tables.ts'

export const SetNodeMaintenanceInput = z.object({ id: Id, isOn: z.boolean() })

/**
 * Sets or ends maintenance of a node; no effect when it is already so.
 * @throws NotFound, Conflict it is decommissioned
 */
export async function setNodeMaintenance(ctx: Ctx, input: z.input<typeof SetNodeMaintenanceInput>): Promise<ComputeNode> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { id, isOn } = parseInput(SetNodeMaintenanceInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, nodePermissions.write, [id])
    const [node] = await tx
      .update(computeNodes)
      .set({ maintenanceAt: isOn ? sql`coalesce(${computeNodes.maintenanceAt}, now())` : null })
      .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNull(computeNodes.decommissionedAt)))
      .returning()
    if (!node) throw await notFoundOrConflict(tx, ctx, computeNodes, id, 'node', (row) => updateBlockedReason(ctx.actor, row))
    await audit(tx, ctx, isOn ? nodeAudit.startMaintenance : nodeAudit.endMaintenance, node)
    ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    return node
  })
}
