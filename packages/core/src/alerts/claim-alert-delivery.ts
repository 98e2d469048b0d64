import { eq, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { alertPermissions } from './permissions.ts'
import { type AlertDelivery, type AlertRoute, alertDeliveries, alertRoutes } from './tables.ts'

/** Longer than one attempt takes. */
const LEASE = sql`interval '60 seconds'`

export type ClaimedDelivery = { route: AlertRoute; delivery: AlertDelivery; tenantName: string; leaseToken: string }

/**
 * Claims the next message: the oldest of a route that no other worker uses, tests first. Messages of a route are sent in order,
 * and routes do not wait for each other. Null when there is none.
 */
export async function claimAlertDelivery(ctx: SystemCtx): Promise<ClaimedDelivery | null> {
  authorize(ctx, alertPermissions.deliver)
  const leaseToken = newId()
  const isWaiting = sql`d.route_id = r.id and d.delivered_at is null and d.failed_at is null
    and (d.event = 'test' or (r.is_enabled and coalesce(r.retry_at, now()) <= now()))`
  const { rows } = await ctx.db.execute<{ id: string }>(sql`with free as (
      select r.id, r.is_enabled, r.retry_at from ${alertRoutes} r
      where coalesce(r.leased_until, now()) <= now() and exists (select from ${alertDeliveries} d where ${isWaiting})
      order by r.retry_at nulls first limit 1 for no key update skip locked),
    leased as (update ${alertRoutes} r set leased_until = now() + ${LEASE}, lease_token = ${leaseToken} from free where r.id = free.id)
    update ${alertDeliveries} set attempts = attempts + 1, attempted_at = now()
    where id = (select d.id from free r join ${alertDeliveries} d on ${isWaiting} order by d.event = 'test' desc, d.id limit 1)
    returning id`)
  if (!rows[0]) return null
  const [claimed] = await ctx.db
    .select({ delivery: alertDeliveries, route: alertRoutes, tenantName: tenants.name })
    .from(alertDeliveries)
    .innerJoin(alertRoutes, eq(alertRoutes.id, alertDeliveries.routeId))
    .innerJoin(tenants, eq(tenants.id, alertRoutes.tenantId))
    .where(eq(alertDeliveries.id, rows[0].id))
  // Null when the route was deleted concurrently.
  return claimed ? { ...claimed, leaseToken } : null
}
