import { sql } from 'drizzle-orm'
import { tenants } from '../../access/tables.ts'
import { authorize, type SystemCtx, tenantCtx } from '../../kernel/context.ts'
import { isTransientDbError } from '../../kernel/retry-transient.ts'
import { bootPermissions } from '../permissions.ts'
import { bootRules, unknownMachines } from '../tables.ts'
import { acceptInTenant } from './accept-in-tenant.ts'

/**
 * Reconciler, over all tenants: accepts new machines that match a rule as nodes, in the order in which they asked first. Of several rules
 * the first by priority and name decides. Suspended tenants wait. Any number of workers may run it.
 * @returns the number of accepted machines
 */
export async function acceptByRules(ctx: SystemCtx): Promise<number> {
  authorize(ctx, bootPermissions.observe)
  const { rows } = await ctx.db.execute<{ tenant_id: string }>(sql`select distinct r.tenant_id from ${bootRules} r
    join ${tenants} t on t.id = r.tenant_id
    where r.is_enabled and t.suspended_at is null
      and exists (select from ${unknownMachines} m where m.tenant_id = r.tenant_id and m.state = 'NEW')`)
  let accepted = 0
  for (const { tenant_id: tenantId } of rows)
    try {
      accepted += await acceptInTenant((name) => tenantCtx(ctx, tenantId, { kind: 'system', id: null, name }))
    } catch (error) {
      if (isTransientDbError(error)) throw error
      ctx.log.error({ err: error, tenantId }, 'cannot accept machines by boot rules in a tenant; continuing with other tenants')
    }
  return accepted
}
