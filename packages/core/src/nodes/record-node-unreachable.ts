import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../context.ts'
import { visibleTo } from '../db/rows.ts'
import { computeNodes } from './tables.ts'

/** A node did not answer. `reason` is for the operator; that the host key changed stays the reason while it is so. */
export async function recordNodeUnreachable(ctx: Ctx, { nodeId, reason }: { nodeId: string; reason: string }): Promise<void> {
  authorize(ctx, 'node:report')
  const [node] = await ctx.db
    .update(computeNodes)
    .set({ unreachableSince: sql`coalesce(${computeNodes.unreachableSince}, now())`, unreachableReason: reason })
    .where(
      and(
        visibleTo(ctx, computeNodes),
        eq(computeNodes.id, nodeId),
        isNull(computeNodes.decommissionedAt),
        sql`not (${computeNodes.hostKey} is not null and ${computeNodes.offeredHostKey} is not null)`,
        sql`(${computeNodes.unreachableSince} is null or ${computeNodes.unreachableReason} is distinct from ${reason})`,
      ),
    )
    .returning({ id: computeNodes.id })
  if (node) ctx.notify({ topic: 'node', id: nodeId, tenantId: ctx.tenantId })
}
