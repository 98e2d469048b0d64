import { and, isNull, lt, sql } from 'drizzle-orm'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { isStalled, stalledReason } from '../kernel/db/stalled.ts'
import { slurmReadinessCheckChanged } from './change-events.ts'
import { slurmScalePermissions } from './permissions.ts'
import { slurmReadinessQueue } from './queues.ts'
import { slurmReadinessChecks } from './tables.ts'

/** Longer than a check of 500 nodes that do not answer. */
const RUNNING_S = 3600

/** Reconciler, over all tenants: fails checks that no worker took, or that no worker could end. @returns their number */
export async function failStalledReadinessChecks(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmScalePermissions.schedule)
  const checks = await ctx.db
    .update(slurmReadinessChecks)
    .set({ error: stalledReason(slurmReadinessChecks, 'the check'), finishedAt: sql`now()` })
    .where(isStalled(slurmReadinessChecks, RUNNING_S))
    .returning({ id: slurmReadinessChecks.id, tenantId: slurmReadinessChecks.tenantId })
  for (const check of checks) ctx.notify(slurmReadinessCheckChanged(check))
  return checks.length
}

/** Reconciler, over all tenants: enqueues checks again that lost their worker. @returns their number */
export async function reassignReadinessChecks(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmScalePermissions.schedule)
  const { id, tenantId, finishedAt, claimedUntil } = slurmReadinessChecks
  const entries = await ctx.db
    .select({ id, tenantId })
    .from(slurmReadinessChecks)
    .where(and(isNull(finishedAt), lt(claimedUntil, sql`now()`)))
  if (entries.length > 0) await inTransaction(ctx, (tx) => ctx.queue.send(tx, slurmReadinessQueue, entries))
  return entries.length
}
