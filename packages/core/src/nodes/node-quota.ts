import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { computeNodes } from './tables.ts'

/**
 * Call it after the statements that add nodes: serializes them per tenant, if the tenant has a quota.
 * @throws Conflict the tenant has more nodes than its quota
 */
export async function assertNodeQuota(tx: Tx, ctx: Ctx): Promise<void> {
  const [tenant] = await tx
    .select({ name: tenants.name, maxNodes: tenants.maxNodes })
    .from(tenants)
    .where(and(eq(tenants.id, ctx.tenantId), isNotNull(tenants.maxNodes)))
    .for('no key update')
  if (!tenant) return
  const count = await tx.$count(computeNodes, and(visibleTo(ctx, computeNodes), isNull(computeNodes.decommissionedAt)))
  if (count > tenant.maxNodes!)
    throw new Conflict(
      `The tenant ${tenant.name} would have ${count} nodes; its quota is ${tenant.maxNodes}. Decommission nodes, or ask an installation administrator for a higher quota.`,
    )
}
