import { and, eq, isNull, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { discoveryChanged } from './change-events.ts'
import { discoveryPermissions } from './permissions.ts'
import { type DiscoveryRow, discoveries } from './tables.ts'

/** Claims a discovery. @returns null when another worker has it, or it ended */
export async function startDiscovery(ctx: Ctx, { id }: { id: string }): Promise<DiscoveryRow | null> {
  authorize(ctx, discoveryPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [row] = await tx
      .update(discoveries)
      .set({ startedAt: sql`now()` })
      .where(
        and(visibleTo(ctx, discoveries), eq(discoveries.id, id), isNull(discoveries.startedAt), isNull(discoveries.finishedAt)),
      )
      .returning()
    if (!row) return null
    // Committed before the worker connects.
    await audit(tx, ctx, nodeAudit.connect, { id: row.nodeId }, { purpose: 'discovery' })
    ctx.notify(discoveryChanged({ id, tenantId: ctx.tenantId }))
    return row
  })
}
