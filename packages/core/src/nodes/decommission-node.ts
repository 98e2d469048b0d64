import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotDecommission } from './policy.ts'
import { lockNode, noUnfinishedRun, unfinishedRunOf } from './runs-of-node.ts'
import { type ComputeNode, computeNodes } from './tables.ts'

/**
 * Take a node out of service. It keeps its row, facts and history, and nothing connects to it any more.
 * @throws NotFound
 * @throws Conflict it is decommissioned already, or an unfinished run targets it
 */
export async function decommissionNode(ctx: Ctx, input: z.input<typeof ById>): Promise<ComputeNode> {
  authorize(ctx, 'node:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    await lockNode(tx, ctx, id)
    const [node] = await tx
      .update(computeNodes)
      .set({ decommissionedAt: sql`now()` })
      .where(
        and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNull(computeNodes.decommissionedAt), noUnfinishedRun(id)),
      )
      .returning()
    if (!node) {
      const run = await unfinishedRunOf(tx, id)
      throw await whyNoRow(tx, ctx, computeNodes, id, 'node', (row) => whyNotDecommission(ctx.actor, row, run))
    }
    await audit(tx, ctx, 'node.decommission', node)
    afterwards({ topic: 'node', id, tenantId: ctx.tenantId })
    return node
  })
}
