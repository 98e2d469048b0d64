import { sql } from 'drizzle-orm'
import type { SystemCtx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { alertPermissions } from './permissions.ts'
import { alertDeliveries, alertSilences, alerts } from './tables.ts'

const DELIVERY_DAYS = 30
const ALERT_DAYS = 90

/** The smallest UUIDv7 of that time, so that the primary key finds older rows. */
const idAt = (daysAgo: number): string => {
  const ms = (Date.now() - daysAgo * 86_400_000).toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`
}

/** Reconciler, over all tenants: deletes deliveries after 30 days, and resolved alerts and ended silences after 90. */
export async function pruneAlerts(ctx: SystemCtx): Promise<number> {
  authorize(ctx, alertPermissions.deliver)
  const counts = await Promise.all([
    ctx.db.execute(sql`delete from ${alertDeliveries} where id < ${idAt(DELIVERY_DAYS)}`),
    ctx.db.execute(sql`delete from ${alerts} where id < ${idAt(ALERT_DAYS)} and resolved_at is not null`),
    ctx.db.execute(sql`delete from ${alertSilences} where ends_at < now() - ${ALERT_DAYS} * interval '1 day'`),
  ])
  return counts.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0)
}
