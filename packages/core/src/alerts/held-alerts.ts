import { type SQL, sql } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import { computeNodes } from '../nodes/tables.ts'
import { alerts } from './tables.ts'

/** Alerts of a maintenance without an end time are planned again after this time, or when it ends. */
const RECHECK = sql`interval '1 hour'`

/** Condition on a left-joined node: it is in maintenance, so its alerts send no notifications. */
export const isInMaintenance = sql`coalesce(${computeNodes.maintenanceAt} is not null
  and (${computeNodes.maintenanceUntil} is null or ${computeNodes.maintenanceUntil} > now()), false)`

/** When to plan the alerts of a node in maintenance again. */
export const maintenanceRecheckAt: SQL = sql`coalesce(${computeNodes.maintenanceUntil}, now() + ${RECHECK})`

/** Plans the alerts again that were held because of the maintenance of these nodes, in the caller's transaction. */
export async function releaseHeldAlerts(tx: Tx, nodeIds: string[]): Promise<void> {
  await tx.execute(sql`with held as (
      select a.id from ${alerts} a where a.node_id = any(${sql.param(nodeIds)}::uuid[]) and a.resolved_at is null and a.notify_at > now()
        and a.notified_event is null
      order by a.kind, a.key, a.tenant_id for update)
    update ${alerts} a set notify_at = now() from held where a.id = held.id`)
}
