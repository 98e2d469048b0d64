import { and, eq, isNotNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { type ComputeNode, computeNodes } from './tables.ts'

/**
 * Take a decommissioned node back. It is NEW until a connection test succeeds, since nobody knows what became of it; its
 * pinned host key still holds.
 * @throws NotFound, Conflict it is in service
 */
export async function recommissionNode(ctx: Ctx, input: z.input<typeof ById>): Promise<ComputeNode> {
  authorize(ctx, 'node:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [node] = await tx
      .update(computeNodes)
      .set({ decommissionedAt: null, maintenanceAt: null, readyAt: null, unreachableSince: null, unreachableReason: null })
      .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNotNull(computeNodes.decommissionedAt)))
      .returning()
    if (!node)
      throw await whyNoRow(
        tx,
        ctx,
        computeNodes,
        id,
        'node',
        (row) => `The node ${row.name} is in service already (${row.status}).`,
      )
    await audit(tx, ctx, 'node.recommission', node)
    afterwards({ topic: 'node', id, tenantId: ctx.tenantId })
    return node
  })
}
