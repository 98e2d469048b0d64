import { sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { nodeChanged } from './change-events.ts'
import { nodePermissions } from './permissions.ts'
import { computeNodes } from './tables.ts'

/** Records that a node did not answer. `reason` is for the operator; a changed host key stays the reason while it lasts. */
export async function recordNodeUnreachable(ctx: Ctx, node: { nodeId: string; reason: string }): Promise<void> {
  await recordNodesUnreachable(ctx, [node])
}

/** Records the same for many nodes with one statement. */
export async function recordNodesUnreachable(ctx: Ctx, nodes: { nodeId: string; reason: string }[]): Promise<void> {
  authorize(ctx, nodePermissions.report)
  if (nodes.length === 0) return
  // Reasons contain output of nodes, and Postgres rejects NUL and lone surrogates.
  const lost = nodes.map(({ nodeId, reason }) => ({ nodeId, reason: reason.toWellFormed().replaceAll('\0', '\ufffd') }))
  const changed = await ctx.db
    .update(computeNodes)
    .set({ unreachableSince: sql`coalesce(${computeNodes.unreachableSince}, now())`, unreachableReason: sql`lost.reason` })
    .from(sql`json_to_recordset(${JSON.stringify(lost)}::json) as lost("nodeId" uuid, reason text)`)
    .where(
      sql`${visibleTo(ctx, computeNodes)} and ${computeNodes.id} = lost."nodeId" and ${computeNodes.decommissionedAt} is null
        and not (${computeNodes.hostKey} is not null and ${computeNodes.offeredHostKey} is not null)
        and (${computeNodes.unreachableSince} is null or ${computeNodes.unreachableReason} is distinct from lost.reason)`,
    )
    .returning({ id: computeNodes.id })
  for (const { id } of changed) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
}
