import { sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { slurmClusterTests } from '../clusters/tables.ts'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { slurmOperations } from '../slurm-operations/tables.ts'
import { slurmActionPermissions } from './permissions.ts'
import { slurmActions } from './tables.ts'

/** An action has up to 10,000 targets, which are deleted with it. */
const ROWS_AT_ONCE = 50

/**
 * Reconciler, over all tenants: deletes ended actions with their targets, ended operations and ended tests of controllers, that exceed the tenant's
 * retention of runs.
 */
export async function pruneSlurmActions(ctx: SystemCtx): Promise<{
  slurmActions: number
  slurmOperations: number
  slurmTests: number
}> {
  authorize(ctx, slurmActionPermissions.schedule)
  return {
    slurmActions: await prune(ctx, slurmActions),
    slurmOperations: await prune(ctx, slurmOperations),
    slurmTests: await prune(ctx, slurmClusterTests),
  }
}

/** Deletes few rows at a time, to keep locks short. */
async function prune(
  { db }: SystemCtx,
  table: typeof slurmActions | typeof slurmOperations | typeof slurmClusterTests,
): Promise<number> {
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
