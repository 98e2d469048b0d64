import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { nodeAudit } from './audit-actions.ts'
import { nodeChanged } from './change-events.ts'
import { nodePermissions } from './permissions.ts'
import { decommissionBlockedReason } from './policy.ts'
import { type ComputeNode, computeNodes } from './tables.ts'
import { lockNode, noUnfinishedRun, unfinishedRunOf } from './unfinished-runs.ts'

/**
 * Decommissions a node. It keeps its row, facts and history, and nothing connects to it.
 * @throws NotFound
 * @throws Conflict it is decommissioned already, or an unfinished run targets it
 */
export async function decommissionNode(ctx: Ctx, input: z.input<typeof IdInput>): Promise<ComputeNode> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, nodePermissions.write, [id])
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
      throw await notFoundOrConflict(tx, ctx, computeNodes, id, 'node', (row) => decommissionBlockedReason(ctx.actor, row, run))
    }
    await audit(tx, ctx, nodeAudit.decommission, node)
    ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    return node
  })
}
