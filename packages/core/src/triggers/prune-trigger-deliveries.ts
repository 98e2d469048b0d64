import { sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { triggerPermissions } from './permissions.ts'
import { triggerDeliveries, triggers } from './tables.ts'

/**
 * Reconciler, over all tenants: deletes deliveries past the tenant's retention of runs. Those of GitHub's format
 * stay while their secret is valid when they started a run: without a time in the signature, only they identify a replay.
 */
export async function pruneTriggerDeliveries(ctx: SystemCtx): Promise<number> {
  authorize(ctx, triggerPermissions.receive)
  const { rowCount } = await ctx.db.execute(sql`delete from ${triggerDeliveries} where id in (
    select d.id from ${triggerDeliveries} d
    join ${triggers} g on g.id = d.trigger_id
    join ${tenants} t on t.id = d.tenant_id
    where d.created_at < now() - make_interval(days => t.run_retention_days)
      and not (g.signature = 'github' and d.outcome = 'STARTED' and d.created_at >= g.secret_created_at))`)
  return rowCount ?? 0
}
