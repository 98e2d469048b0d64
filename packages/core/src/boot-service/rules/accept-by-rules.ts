import { sql } from 'drizzle-orm'
import { authorize, type SystemCtx, tenantCtx } from '../../kernel/context.ts'
import { bootPermissions } from '../permissions.ts'
import { bootRules, unknownMachines } from '../tables.ts'
import { acceptInTenant } from './accept-in-tenant.ts'

/**
 * Reconciler, over all tenants: accepts new machines that match a rule as nodes, in the order in which they asked first. Of several rules
 * the first by priority and name decides. Any number of workers may run it.
 * @returns the number of accepted machines
 */
export async function acceptByRules(ctx: SystemCtx): Promise<number> {
  authorize(ctx, bootPermissions.observe)
  const { rows } = await ctx.db.execute<{ tenant_id: string }>(sql`select distinct r.tenant_id from ${bootRules} r
    where r.is_enabled
      and exists (select from ${unknownMachines} m where m.tenant_id = r.tenant_id and m.state = 'NEW')`)
  let accepted = 0
  for (const { tenant_id } of rows)
    accepted += await acceptInTenant((name) => tenantCtx(ctx, tenant_id, { kind: 'system', id: null, name }))
  return accepted
}
