import { sql } from 'drizzle-orm'
import { agents } from '../agents/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { heartbeatPermissions } from './permissions.ts'
import { agentHeartbeats } from './tables.ts'

/** Rejected heartbeats of a node: how many, and the reason of the last one. */
export type NodeRejections = { nodeId: string; code: string; message: string; count: number }

const MAX_MESSAGE = 500

/**
 * Records why heartbeats of nodes were rejected. The count starts again with the first rejection after an accepted heartbeat, which also
 * sends a change event.
 */
export async function recordRejections(
  ctx: Pick<SystemCtx, 'db' | 'actor' | 'notify'>,
  rejections: NodeRejections[],
): Promise<void> {
  authorize(ctx, heartbeatPermissions.accept)
  const given = JSON.stringify(
    rejections.map((each) => ({ ...each, message: sanitizeForPostgres(each.message).slice(0, MAX_MESSAGE) })),
  )
  const { rows } = await ctx.db.execute<{ id: string; tenantId: string; isFirst: boolean }>(sql`
    with given as (select * from jsonb_to_recordset(${given}::jsonb) as g("nodeId" uuid, code text, message text, count int)),
    locked as (
      select a.node_id, a.rejected_at > b.received_at as "isRepeated"
      from ${agents} a join given g on g."nodeId" = a.node_id join ${agentHeartbeats} b on b.node_id = a.node_id
      order by a.node_id for update of a)
    update ${agents} a set rejected_at = now(), rejection_code = g.code, rejection_message = g.message,
      rejection_count = g.count + case when l."isRepeated" then a.rejection_count else 0 end
    from locked l, given g where a.node_id = l.node_id and g."nodeId" = a.node_id
    returning a.node_id as id, a.tenant_id as "tenantId", l."isRepeated" is not true as "isFirst"`)
  for (const { id, tenantId, isFirst } of rows) if (isFirst) ctx.notify(nodeChanged({ id, tenantId }))
}
