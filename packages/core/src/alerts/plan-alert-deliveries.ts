import { and, eq, lte, sql } from 'drizzle-orm'
import { readGroupTree } from '../groups/index.ts'
import type { SystemCtx, Tx } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { isOneOf } from '../kernel/db/rows.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import { computeNodes } from '../nodes/index.ts'
import { isInMaintenance, maintenanceRecheckAt } from './held-alerts.ts'
import { EVENT_KINDS } from './kinds.ts'
import { fitsMatcher, fitting } from './matcher.ts'
import { alertPermissions } from './permissions.ts'
import { silencesOfAlerts } from './silences-of-alerts.ts'
import { type AlertSnapshot, alertDeliveries, alertRoutes, alerts, currentXid } from './tables.ts'

/** Maximum of alerts per message. */
export const MAX_ALERTS_PER_MESSAGE = 500

/**
 * Reconciler, over all tenants, safe with any number of workers: creates one message per route and event for alerts that were
 * opened or resolved, and resolves events that did not recur. Silenced alerts wait for the end of the silence, and those of a node in
 * maintenance for its end.
 * @returns the number of processed alerts
 */
export async function planAlertDeliveries(ctx: SystemCtx): Promise<number> {
  authorize(ctx, alertPermissions.deliver)
  const tenants = await ctx.db.selectDistinct({ id: alerts.tenantId }).from(alerts).where(lte(alerts.notifyAt, sql`now()`))
  let count = 0
  for (const { id } of tenants)
    try {
      for (let planned = -1; planned !== 0; count += planned) planned = await ctx.db.transaction((tx) => planSome(tx, id))
    } catch (error) {
      if (isTransientDbError(error)) throw error
      ctx.log.error({ err: error, tenantId: id }, 'cannot plan the alert deliveries of a tenant; continuing with other tenants')
    }
  await ctx.db.execute(sql`with over as (select a.id from ${alerts} a
      where a.resolved_at is null and a.kind = any(${sql.param(EVENT_KINDS)}::text[]) and a.last_at < now() - interval '5 minutes'
      order by a.kind, a.key for update skip locked)
    update ${alerts} a set resolved_at = now(), changed_xid = ${currentXid}, notify_at = null from over where a.id = over.id`)
  return count
}

/** Plans a batch of one tenant. Skips rows that another worker has locked. */
async function planSome(tx: Tx, tenantId: string): Promise<number> {
  const due = await tx
    .select({ id: alerts.id })
    .from(alerts)
    .where(and(eq(alerts.tenantId, tenantId), lte(alerts.notifyAt, sql`now()`)))
    .orderBy(alerts.kind, alerts.key)
    .limit(MAX_ALERTS_PER_MESSAGE)
    .for('update', { skipLocked: true })
  const ids = due.map((row) => row.id)
  if (ids.length === 0) return 0
  const tree = await readGroupTree(tx, { tenantId })
  const routes = await tx
    .select()
    .from(alertRoutes)
    .where(and(eq(alertRoutes.tenantId, tenantId), eq(alertRoutes.isEnabled, true)))
  const silences = await silencesOfAlerts(tx, { tenantId }, ids)
  const found = await tx
    .select({
      alert: alerts,
      node: computeNodes.name,
      isInMaintenance: sql<boolean>`${isInMaintenance}`,
      routes: fitting(routes.map(({ id, matcher }) => ({ id, fits: fitsMatcher(tree, matcher, true) }))),
    })
    .from(alerts)
    .leftJoin(computeNodes, eq(computeNodes.id, alerts.nodeId))
    .where(isOneOf(alerts.id, ids))
    .orderBy(alerts.openedAt, alerts.id)

  const held: string[] = []
  const inMaintenance: string[] = []
  const planned = { opened: [] as typeof found, resolved: [] as typeof found }
  for (const row of found) {
    const event = row.alert.resolvedAt ? 'resolved' : 'opened'
    // The end of a notified alert is always notified.
    if (event === 'resolved') planned[event].push(row)
    else if (row.isInMaintenance) inMaintenance.push(row.alert.id)
    else if (silences.has(row.alert.id)) held.push(row.alert.id)
    else planned[event].push(row)
  }
  if (inMaintenance.length > 0)
    await tx
      .update(alerts)
      .set({ notifyAt: maintenanceRecheckAt })
      .from(computeNodes)
      .where(and(eq(computeNodes.id, alerts.nodeId), isOneOf(alerts.id, inMaintenance)))
  for (const silence of new Set(silences.values())) {
    const of = held.filter((id) => silences.get(id) === silence)
    await tx.update(alerts).set({ notifyAt: silence.endsAt }).where(isOneOf(alerts.id, of))
  }
  for (const event of ['opened', 'resolved'] as const) {
    const rows = planned[event]
    if (rows.length === 0) continue
    const notifiedEvent = { notifiedEvent: event, notifiedAt: sql`now()`, notifyAt: null }
    await tx
      .update(alerts)
      .set(notifiedEvent)
      .where(
        isOneOf(
          alerts.id,
          rows.map((row) => row.alert.id),
        ),
      )
    for (const route of routes) {
      if (event === 'resolved' && !route.notifyOnResolve) continue
      const matching = rows.filter((row) => row.routes.includes(route.id))
      if (matching.length > 0)
        await addMessage(
          tx,
          route,
          event,
          matching.map(({ alert, node }) => toSnapshot(alert, node)),
        )
    }
  }
  return ids.length
}

/** Adds alerts to a pending message without attempts, so that a slow route gets few, long messages. */
async function addMessage(tx: Tx, route: { id: string; tenantId: string }, event: 'opened' | 'resolved', added: AlertSnapshot[]) {
  const { rowCount } = await tx.execute(sql`update ${alertDeliveries} set alerts = alerts || ${JSON.stringify(added)}::jsonb
    where id = (select d.id from ${alertDeliveries} d where d.route_id = ${route.id} and d.delivered_at is null and d.failed_at is null
        and d.event <> 'test' order by d.id desc limit 1 for update)
      and event = ${event} and attempts = 0 and jsonb_array_length(alerts) + ${added.length} <= ${MAX_ALERTS_PER_MESSAGE}`)
  if (rowCount === 0)
    await tx.insert(alertDeliveries).values({ tenantId: route.tenantId, routeId: route.id, event, alerts: added })
}

const toSnapshot = (alert: typeof alerts.$inferSelect, node: string | null): AlertSnapshot => ({
  id: alert.id,
  kind: alert.kind,
  severity: alert.severity,
  node,
  cluster: alert.cluster,
  openedAt: alert.openedAt.toISOString(),
  resolvedAt: alert.resolvedAt?.toISOString() ?? null,
  count: alert.count,
  evidence: alert.evidence,
})
