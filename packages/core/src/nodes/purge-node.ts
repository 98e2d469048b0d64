import { and, eq, isNotNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotPurge } from './policy.ts'
import { lockNode, noUnfinishedRun, unfinishedRunOf } from './runs-of-node.ts'
import { computeNodes } from './tables.ts'

/**
 * Remove a decommissioned node for good, with its accelerators, discoveries and tests. Runs keep its name and log.
 * @throws NotFound
 * @throws Conflict it is not decommissioned, or an unfinished run targets it
 */
export async function purgeNode(ctx: Ctx, input: z.input<typeof ById>): Promise<{ id: string }> {
  authorize(ctx, 'node:purge')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    await lockNode(tx, ctx, id)
    const [node] = await tx
      .delete(computeNodes)
      .where(
        and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNotNull(computeNodes.decommissionedAt), noUnfinishedRun(id)),
      )
      .returning()
    if (!node) {
      const run = await unfinishedRunOf(tx, id)
      throw await whyNoRow(tx, ctx, computeNodes, id, 'node', (row) => whyNotPurge(ctx.actor, row, run))
    }
    await audit(tx, ctx, 'node.purge', node, { host: node.host, port: node.port })
    afterwards({ topic: 'node', id, tenantId: ctx.tenantId })
    return { id }
  })
}
