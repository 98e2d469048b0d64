import { and, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { jobRunChanged } from '../runs/change-events.ts'
import { jobRuns } from '../runs/tables.ts'
import { workers } from '../workers/tables.ts'

const AT_ONCE = 1000

/** Condition on a run: nobody has claimed it, ended it or asked it to stop. */
export const isOpen = and(isNull(jobRuns.finishedAt), isNull(jobRuns.startedAt), isNull(jobRuns.cancelRequestedAt))

/** How many runs of the tenant `id` are under way. */
const underWay = (id: SQL): SQL =>
  sql`(select count(*) from ${jobRuns} begun where begun.tenant_id = ${id} and begun.finished_at is null and begun.started_at is not null)`

/** Condition on a run: its tenant's queue goes on, and has fewer runs under way than it may have at once. */
export const isTenantsTurn: SQL = sql`exists (
  select from ${tenants} tenant where tenant.id = ${jobRuns.tenantId} and tenant.queue_paused_at is null
    and (tenant.max_concurrent_runs is null or ${underWay(sql`tenant.id`)} < tenant.max_concurrent_runs))`

export type NextRun = { id: string; tenantId: string; isLimited: boolean }

/**
 * The run to begin with next, of all tenants: of the tenant with the fewest runs under way, and of its runs the oldest. Runs that
 * are known to wait for their nodes or their tenant are not looked at: they come back when their turn has come.
 * @returns null when there is none, `draining` when the worker is to begin none
 */
export async function nextRun(db: Db, worker: string): Promise<NextRun | 'draining' | null> {
  const { rows } = await db.execute<NextRun & { isDraining: boolean }>(sql`
    select next.id, tenant.id as "tenantId", tenant.max_concurrent_runs is not null as "isLimited",
      exists (select from ${workers} w where w.name = ${worker} and w.draining_at is not null) as "isDraining"
    from ${tenants} tenant
    cross join lateral (select ${underWay(sql`tenant.id`)} as count) begun
    cross join lateral (
      select ${jobRuns.id} from ${jobRuns}
      where ${jobRuns.tenantId} = tenant.id and ${isOpen} and ${jobRuns.waitingSince} is null
      order by ${jobRuns.id} limit 1) next
    where tenant.queue_paused_at is null and (tenant.max_concurrent_runs is null or begun.count < tenant.max_concurrent_runs)
    order by begun.count, next.id limit 1`)
  const [next] = rows
  return next?.isDraining ? 'draining' : (next ?? null)
}

/**
 * Take runs out of the queue whose tenant may begin none now, and note since when they wait.
 * @returns how many; 1000 at most
 */
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
