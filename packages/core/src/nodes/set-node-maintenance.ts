import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { Id } from '../input.ts'
import { whyNotWrite } from './policy.ts'
import { type ComputeNode, computeNodes } from './tables.ts'

export const SetNodeMaintenanceInput = z.object({ id: Id, isOn: z.boolean() })

/**
 * Put a node into maintenance, or back to work; nothing changes when it is there already.
 * @throws NotFound, Conflict it is decommissioned
 */
export async function setNodeMaintenance(ctx: Ctx, input: z.input<typeof SetNodeMaintenanceInput>): Promise<ComputeNode> {
  authorize(ctx, 'node:write')
  const { id, isOn } = parseInput(SetNodeMaintenanceInput, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [node] = await tx
      .update(computeNodes)
      .set({ maintenanceAt: isOn ? sql`coalesce(${computeNodes.maintenanceAt}, now())` : null })
      .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNull(computeNodes.decommissionedAt)))
      .returning()
    if (!node) throw await whyNoRow(tx, ctx, computeNodes, id, 'node', (row) => whyNotWrite(ctx.actor, row))
    await audit(tx, ctx, isOn ? 'node.start_maintenance' : 'node.end_maintenance', node)
    afterwards({ topic: 'node', id, tenantId: ctx.tenantId })
    return node
  })
}
