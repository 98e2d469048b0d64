import { and, asc, isNull, lt, or, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { nodeBmcs } from '../nodes/tables.ts'
import { powerPermissions } from './permissions.ts'
import { bmcDiscoveryQueue, bmcReadQueue, powerRunQueue } from './queues.ts'
import { bmcDiscoveries, bmcReadings, powerRuns } from './tables.ts'

/** New work waits this long for a worker before it is enqueued again. */
const UNCLAIMED = sql`now() - interval '1 minute'`

/** Reconciler, over all tenants: enqueues power runs and discoveries again that lost their worker or were never claimed. @returns their number */
export async function reassignPowerWork(ctx: SystemCtx): Promise<number> {
  authorize(ctx, powerPermissions.schedule)
  let count = 0
  for (const [table, queue] of [
    [powerRuns, powerRunQueue],
    [bmcDiscoveries, bmcDiscoveryQueue],
  ] as const) {
    const entries = await ctx.db
      .select({ id: table.id, tenantId: table.tenantId })
      .from(table)
      .where(
        and(
          isNull(table.finishedAt),
          or(lt(table.claimedUntil, sql`now()`), and(isNull(table.claimedUntil), lt(table.createdAt, UNCLAIMED))),
        ),
      )
    if (entries.length > 0) await inTransaction(ctx, (tx) => ctx.queue.send(tx, queue, entries))
    count += entries.length
  }
  return count
}

/** A power state is read again after this time. */
const READ_EVERY = sql`interval '15 minutes'`
const READ_AT_ONCE = 200

/** Reconciler, over all tenants: requests readings of the BMCs that were not read for longest. @returns their number */
export async function requestDueReadings(ctx: SystemCtx): Promise<number> {
  authorize(ctx, powerPermissions.schedule)
  const last = sql`greatest(${bmcReadings.readAt}, ${bmcReadings.failedAt}, ${bmcReadings.scheduledAt})`
  const entries = await ctx.db
    .select({ id: nodeBmcs.id, tenantId: nodeBmcs.tenantId })
    .from(nodeBmcs)
    .leftJoin(bmcReadings, sql`${bmcReadings.bmcId} = ${nodeBmcs.id}`)
    .where(sql`coalesce(${last}, '-infinity') < now() - ${READ_EVERY}`)
    .orderBy(asc(sql`coalesce(${last}, '-infinity')`))
    .limit(READ_AT_ONCE)
  if (entries.length === 0) return 0
  await inTransaction(ctx, async (tx) => {
    // Marked, so that the next call does not enqueue the same ones.
    await tx
      .insert(bmcReadings)
      .values(entries.map(({ id, tenantId }) => ({ bmcId: id, tenantId, scheduledAt: sql`now()` })))
      .onConflictDoUpdate({ target: bmcReadings.bmcId, set: { scheduledAt: sql`now()` } })
    await ctx.queue.send(tx, bmcReadQueue, entries)
  })
  return entries.length
}

const ROWS_AT_ONCE = 50

/** Reconciler, over all tenants: deletes ended power runs and discoveries that exceed the tenant's retention of runs. */
export async function prunePowerRuns(ctx: SystemCtx): Promise<{ powerRuns: number; bmcDiscoveries: number }> {
  authorize(ctx, powerPermissions.schedule)
  return { powerRuns: await prune(ctx, powerRuns), bmcDiscoveries: await prune(ctx, bmcDiscoveries) }
}

/** Deletes few rows at a time, to keep locks short. */
async function prune({ db }: SystemCtx, table: typeof powerRuns | typeof bmcDiscoveries): Promise<number> {
  let removed = 0
  for (;;) {
    const { rowCount } = await db.execute(sql`
      delete from ${table} where id = any(array(
        select o.id from ${table} o join ${tenants} t on t.id = o.tenant_id
        where o.finished_at < now() - make_interval(days => t.run_retention_days) limit ${ROWS_AT_ONCE}))`)
    removed += rowCount ?? 0
    if ((rowCount ?? 0) < ROWS_AT_ONCE) return removed
  }
}
