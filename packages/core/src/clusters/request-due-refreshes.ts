import { and, isNull, lte, or, sql } from 'drizzle-orm'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmRefreshQueue } from './queues.ts'
import { slurmClusters } from './tables.ts'

/**
 * Reconciler, over all tenants: enqueues refreshes that are due and that no worker runs, also of clusters without a node to ask, whose
 * refresh records that.
 * @returns their number
 */
export async function requestDueRefreshes(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  const due = await ctx.db
    .select({ id: slurmClusters.id, tenantId: slurmClusters.tenantId })
    .from(slurmClusters)
    .where(
      and(
        lte(slurmClusters.nextRefreshAt, sql`now()`),
        or(isNull(slurmClusters.claimedUntil), lte(slurmClusters.claimedUntil, sql`now()`)),
      ),
    )
  if (due.length > 0) await inTransaction(ctx, (tx) => ctx.queue.send(tx, slurmRefreshQueue, due))
  return due.length
}
