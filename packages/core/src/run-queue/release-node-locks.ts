import { and, isNotNull } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { isOneOf } from '../kernel/db/rows.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Ids, multilineText } from '../kernel/input.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import type { LeanNode } from '../nodes/tables.ts'
import { foldHostlist, selectNodes } from '../selection/index.ts'
import { nodesFreed } from './change-events.ts'
import { queuePermissions } from './permissions.ts'
import { nodeLocks } from './tables.ts'

export const ReleaseNodeLocksInput = z.object({
  nodeIds: Ids.refine((ids) => ids.length > 0, 'name at least one node'),
  reason: multilineText(1000).refine((text) => text.trim() !== '', 'must not be empty'),
})

/**
 * Releases the locks of nodes. The runs that hold them continue, and the next waiting run may start beside them. Intended for
 * runs that are known to hang.
 * @throws Conflict when no run holds any of the locks
 */
export async function releaseNodeLocks(ctx: Ctx, input: z.input<typeof ReleaseNodeLocksInput>): Promise<LeanNode[]> {
  authorize(ctx, queuePermissions.releaseLocks)
  const { nodeIds, reason } = parseInput(ReleaseNodeLocksInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const nodes = await selectNodes(ctx, nodeIds, tx)
    const locks = await tx
      .delete(nodeLocks)
      .where(and(isOneOf(nodeLocks.nodeId, nodeIds), isNotNull(nodeLocks.acquiredAt)))
      .returning()
    if (locks.length === 0) throw new Conflict(`No run has locked ${foldHostlist(nodes.map((node) => node.name))}.`)
    const runs = new Map(locks.map((lock) => [lock.nodeId, lock.jobRunId]))
    const released = nodes.filter((node) => runs.has(node.id))
    await audit(
      tx,
      ctx,
      nodeAudit.releaseLock,
      released.map(({ id, name }) => ({ id, name, details: { jobRunId: runs.get(id), reason } })),
    )
    for (const { id } of released) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    ctx.notify(nodesFreed({ id: ctx.tenantId, tenantId: ctx.tenantId }))
    return released
  })
}
