import { sql } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { alertChanged } from './change-events.ts'
import type { AlertKind } from './kinds.ts'
import { keyOf, notifyAt } from './raise-alerts.ts'
import { alerts, currentXid } from './tables.ts'

export type ResolvedAlert = { tenantId: string; nodeId: string | null; cluster?: string | null; kinds: AlertKind[] }

/**
 * Resolves the open alerts of these kinds in the caller's transaction, with one statement for any number.
 * @returns the change events to send after the commit
 */
export async function resolveAlerts(tx: Tx, resolved: ResolvedAlert[]): Promise<ChangeEvent[]> {
  const pairs = resolved.flatMap((each) => each.kinds.map((kind) => ({ tenant_id: each.tenantId, kind, key: keyOf(each) })))
  if (pairs.length === 0) return []
  const { rows } = await tx.execute<{ id: string; tenant_id: string }>(sql`with over as (
      select a.id from ${alerts} a
      join jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as g(tenant_id uuid, kind text, key text)
        on a.tenant_id = g.tenant_id and a.kind = g.kind and a.key = g.key
      where a.is_latest and a.resolved_at is null
      order by a.kind, a.key, a.tenant_id for update of a)
    update ${alerts} a set resolved_at = now(), changed_xid = ${currentXid}, notify_at = ${notifyAt('resolved')} from over where a.id = over.id
    returning a.id, a.tenant_id`)
  return rows.map(({ id, tenant_id: tenantId }) => alertChanged({ id, tenantId }))
}
