import { and, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { jobRunChanged } from '../runs/change-events.ts'
import { jobRuns } from '../runs/tables.ts'
import { workers } from '../workers/tables.ts'

const AT_ONCE = 1000

/** Condition on a run: it is unclaimed, unfinished, and its cancellation was not requested. */
export const isOpen = and(isNull(jobRuns.finishedAt), isNull(jobRuns.startedAt), isNull(jobRuns.cancelRequestedAt))

/** Number of active runs of the tenant `id`. A run over Slurm batches only starts others, which count. */
const activeRuns = (id: SQL): SQL =>
  sql`(select count(*) from ${jobRuns} begun where begun.tenant_id = ${id} and begun.finished_at is null and begun.started_at is not null and begun.slurm is null)`

/** Condition on a run: its tenant is not suspended, and the tenant's queue is not paused and below its limit of concurrent runs. */
export const isTenantsTurn: SQL = sql`exists (
  select from ${tenants} tenant where tenant.id = ${jobRuns.tenantId} and tenant.suspended_at is null and tenant.queue_paused_at is null
    and (tenant.max_concurrent_runs is null or ${activeRuns(sql`tenant.id`)} < tenant.max_concurrent_runs))`

export type NextRun = { id: string; tenantId: string; isLimited: boolean }

/**
 * Returns the next run to start: the oldest run of the tenant with the fewest active runs. Ignores runs marked as waiting, which
 * are enqueued again later.
 * @returns null when there is none, `draining` when the worker may start none
 */
export async function nextRun(db: Db, worker: string): Promise<NextRun | 'draining' | null> {
  const { rows } = await db.execute<NextRun & { isDraining: boolean }>(sql`
    select next.id, tenant.id as "tenantId", tenant.max_concurrent_runs is not null as "isLimited",
      exists (select from ${workers} w where w.name = ${worker} and w.drained_at is not null) as "isDraining"
    from ${tenants} tenant
    cross join lateral (select ${activeRuns(sql`tenant.id`)} as count) begun
    cross join lateral (
      select ${jobRuns.id} from ${jobRuns}
      where ${jobRuns.tenantId} = tenant.id and ${isOpen} and ${jobRuns.waitingSince} is null
      order by ${jobRuns.id} limit 1) next
    where tenant.suspended_at is null and tenant.queue_paused_at is null
      and (tenant.max_concurrent_runs is null or begun.count < tenant.max_concurrent_runs)
    order by begun.count, next.id limit 1`)
  const [next] = rows
  return next?.isDraining ? 'draining' : (next ?? null)
}

/** Marks runs as waiting when their tenant may not start any now. @returns number of marked runs, at most 1000 */
export async function markWaiting(ctx: SystemCtx): Promise<number> {
  const { db } = ctx
  const waiting = await db
    .update(jobRuns)
    .set({ waitingSince: sql`now()` })
    .where(
      inArray(
        jobRuns.id,
        db
          .select({ id: jobRuns.id })
          .from(jobRuns)
          .where(and(isOpen, isNull(jobRuns.waitingSince), sql`not ${isTenantsTurn}`))
          .limit(AT_ONCE),
      ),
    )
    .returning({ id: jobRuns.id, tenantId: jobRuns.tenantId })
  for (const run of waiting) ctx.notify(jobRunChanged(run))
  return waiting.length
}
