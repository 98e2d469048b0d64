import { and, isNull, lt, or, sql } from 'drizzle-orm'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { slurmActionPermissions } from './permissions.ts'
import { slurmActionQueue } from './queues.ts'
import { slurmActions } from './tables.ts'

/** A new action waits this long for a worker before it is enqueued again. */
const UNCLAIMED = sql`now() - interval '1 minute'`

/** Reconciler, over all tenants: enqueues actions again that lost their worker or were never claimed. @returns their number */
export async function reassignSlurmActions(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmActionPermissions.schedule)
  const entries = await ctx.db
    .select({ id: slurmActions.id, tenantId: slurmActions.tenantId })
    .from(slurmActions)
    .where(
      and(
        isNull(slurmActions.finishedAt),
        or(
          lt(slurmActions.claimedUntil, sql`now()`),
          and(isNull(slurmActions.claimedUntil), lt(slurmActions.createdAt, UNCLAIMED)),
        ),
      ),
    )
  if (entries.length > 0) await inTransaction(ctx, (tx) => ctx.queue.send(tx, slurmActionQueue, entries))
  return entries.length
}
