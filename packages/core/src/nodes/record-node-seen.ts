import { and, inArray, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { nodeChanged } from './change-events.ts'
import { nodePermissions } from './permissions.ts'
import { computeNodes } from './tables.ts'

/** Records with one statement that nodes answered. They become reachable, except nodes with a changed host key. */
export async function recordNodeSeen(ctx: Ctx, { nodeIds }: { nodeIds: string[] }): Promise<void> {
  authorize(ctx, nodePermissions.report)
  if (nodeIds.length === 0) return
  const isTrusted = sql`(${computeNodes.hostKey} is null or ${computeNodes.offeredHostKey} is null)`
  // Locks in ID order, so that concurrent calls do not deadlock.
  const locked = ctx.db
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
    .orderBy(computeNodes.id)
    .for('no key update')
  const rows = await ctx.db
    .update(computeNodes)
    .set({ lastSeenAt: sql`now()`, unreachableSince: null, unreachableReason: null, updatedAt: sql`${computeNodes.updatedAt}` })
    .where(and(visibleTo(ctx, computeNodes), inArray(computeNodes.id, locked), isNull(computeNodes.decommissionedAt), isTrusted))
    .returning({ id: computeNodes.id })
  for (const { id } of rows) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
}
