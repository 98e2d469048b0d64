import { sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { schedulePermissions } from './permissions.ts'
import { scheduleFirings } from './tables.ts'

/** Per schedule, so that one that fires every minute does not fill the database. */
const MAX_FIRINGS = 1000

/**
 * Reconciler, over all tenants: deletes history past the tenant's retention of runs, and beyond 1000 rows per schedule. The newest row
 * stays, because it is the last result.
 */
export async function pruneScheduleFirings(ctx: SystemCtx): Promise<number> {
  authorize(ctx, schedulePermissions.fire)
  const { rowCount } = await ctx.db.execute(sql`delete from ${scheduleFirings} where id in (
    select f.id from (select id, tenant_id, created_at, row_number() over (partition by schedule_id order by id desc) as number
      from ${scheduleFirings}) f
    join ${tenants} t on t.id = f.tenant_id
    where f.number > ${MAX_FIRINGS}
      or (f.number > 1 and f.created_at < now() - make_interval(days => t.run_retention_days)))`)
  return rowCount ?? 0
}
