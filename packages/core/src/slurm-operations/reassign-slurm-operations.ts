import { and, isNull, lt, or, sql } from 'drizzle-orm'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { slurmOperationPermissions } from './permissions.ts'
import { slurmOperationQueue } from './queues.ts'
import { slurmOperations } from './tables.ts'

/** A new operation waits this long for a worker before it is enqueued again. */
const UNCLAIMED = sql`now() - interval '1 minute'`

/** Reconciler, over all tenants: enqueues operations again that lost their worker or were never claimed. @returns their number */
export async function reassignSlurmOperations(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmOperationPermissions.schedule)
  const entries = await ctx.db
    .select({ id: slurmOperations.id, tenantId: slurmOperations.tenantId })
    .from(slurmOperations)
    .where(
      and(
        isNull(slurmOperations.finishedAt),
        or(
          lt(slurmOperations.claimedUntil, sql`now()`),
          and(isNull(slurmOperations.claimedUntil), lt(slurmOperations.createdAt, UNCLAIMED)),
        ),
      ),
    )
  if (entries.length > 0) await inTransaction(ctx, (tx) => ctx.queue.send(tx, slurmOperationQueue, entries))
  return entries.length
}
