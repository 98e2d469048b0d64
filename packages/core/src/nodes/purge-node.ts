import { and, eq, isNotNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { nodeAudit } from './audit-actions.ts'
import { nodeChanged } from './change-events.ts'
import { nodePermissions } from './permissions.ts'
import { purgeBlockedReason } from './policy.ts'
import { computeNodes } from './tables.ts'
import { lockNodes, noUnfinishedRun, unfinishedRunOf } from './unfinished-runs.ts'

/**
 * Deletes a decommissioned node permanently, with its accelerators, discoveries and tests. Runs keep its name and log.
 * @throws NotFound
 * @throws Conflict it is not decommissioned, or an unfinished run targets it
 */
export async function purgeNode(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, nodePermissions.purge)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await lockNodes(tx, ctx, [id])
    const [node] = await tx
      .delete(computeNodes)
      .where(
        and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNotNull(computeNodes.decommissionedAt), noUnfinishedRun(id)),
      )
      .returning()
    if (!node) {
      const run = await unfinishedRunOf(tx, id)
      throw await notFoundOrConflict(tx, ctx, computeNodes, id, 'node', (row) => purgeBlockedReason(ctx.actor, row, run))
    }
    await audit(tx, ctx, nodeAudit.purge, node, { host: node.host, port: node.port })
    ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    return { id }
  })
}
