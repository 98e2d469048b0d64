import { type SQL, sql } from 'drizzle-orm'
import { agents } from '../agents/tables.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { computeNodes } from '../nodes/tables.ts'
import { alertChanged } from './change-events.ts'
import { type AlertKind, KINDS } from './kinds.ts'
import { alerts, currentXid } from './tables.ts'

/** An alert of a node, of a cluster when `nodeId` is null, or of the tenant without both. A node's agent determines its cluster. */
export type RaisedAlert = {
  tenantId: string
  nodeId: string | null
  cluster?: string | null
  kind: AlertKind
  evidence: Record<string, unknown>
}

/** An alert that recurs within this time is reopened. */
const REOPEN_WITHIN = sql`interval '5 minutes'`

export const keyOf = ({ nodeId, cluster }: Pick<RaisedAlert, 'nodeId' | 'cluster'>): string =>
  nodeId ? `node:${nodeId}` : cluster ? `cluster:${cluster}` : 'tenant'

/**
 * Raises alerts in the caller's transaction with two statements for any number. An open alert increases its count; one of the
 * same node and kind that was opened less than five minutes ago is reopened. Decommissioned nodes get none. Callers that also
 * resolve alerts do that first.
 * @returns the change events to send after the commit
 */
export async function raiseAlerts(tx: Tx, raised: RaisedAlert[]): Promise<ChangeEvent[]> {
  if (raised.length === 0) return []
  // Keeps the last of equal alerts, because one statement cannot upsert a row twice.
  const distinct = new Map(raised.map((alert) => [`${alert.kind} ${keyOf(alert)} ${alert.tenantId}`, alert]))
  const rows = JSON.stringify(
    [...distinct.values()].map(({ tenantId, nodeId, cluster, kind, evidence }) => ({
      id: newId(),
      tenant_id: tenantId,
      node_id: nodeId,
      cluster: cluster ?? null,
      kind,
      severity: KINDS[kind].severity,
      key: keyOf({ nodeId, cluster }),
      // Contains data from nodes.
      evidence: sanitizeForPostgres(evidence),
    })),
  )
  const given = sql`jsonb_to_recordset(${rows}::jsonb) as g(id uuid, tenant_id uuid, node_id uuid, cluster text, kind text,
    severity text, key text, evidence jsonb)`
  // All writers lock rows in one order, so that they do not deadlock.
  await tx.execute(sql`with old as (
      select a.id from ${alerts} a join ${given} on a.tenant_id = g.tenant_id and a.kind = g.kind and a.key = g.key
      where a.is_latest and a.resolved_at is not null and a.opened_at <= now() - ${REOPEN_WITHIN}
      order by a.kind, a.key, a.tenant_id for update of a)
    update ${alerts} a set is_latest = false from old where a.id = old.id`)
  const { rows: written } = await tx.execute<{ id: string; tenant_id: string }>(sql`
    insert into ${alerts} as a (id, tenant_id, node_id, cluster, kind, severity, key, evidence, notify_at)
    select g.id, g.tenant_id, g.node_id, coalesce(g.cluster, (select s.cluster from ${agents} s where s.node_id = g.node_id)), g.kind, g.severity, g.key, g.evidence, now() from ${given}
    where not exists (select from ${computeNodes} n where n.id = g.node_id and n.decommissioned_at is not null)
    order by g.kind, g.key, g.tenant_id
    on conflict (tenant_id, kind, key) where is_latest do update set
      count = a.count + 1, last_at = now(), evidence = excluded.evidence, resolved_at = null, changed_xid = ${currentXid},
      notify_at = case when a.resolved_at is null then a.notify_at else ${notifyAt('opened')} end
    returning a.id, a.tenant_id`)
  return written.map(({ id, tenant_id: tenantId }) => alertChanged({ id, tenantId }))
}

/**
 * When to notify an alert that entered `state`: never the same state twice, never the end of an alert that was not notified, and a
 * reopened alert only after five minutes.
 */
export const notifyAt = (state: 'opened' | 'resolved'): SQL =>
  state === 'resolved'
    ? sql`case when a.notified_event = 'opened' then now() end`
    : sql`case when a.notified_event is null then now()
        when a.notified_event = 'resolved' then greatest(now(), a.notified_at + ${REOPEN_WITHIN}) end`
