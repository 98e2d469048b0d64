import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { type Alert, alerts, raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import { auditEntries, auditPermissions } from '../audit/index.ts'
import { authorize, inTransaction, type SystemCtx, type Tx } from '../kernel/context.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { auditSinks } from './tables.ts'

/** A sink is behind when its oldest undelivered entry is older. */
const BEHIND_AFTER = sql`interval '5 minutes'`
const KIND = 'audit_sink_behind'

/** The facts of an alert: the sinks that are behind, by name. */
export type SinkEvidence = { sinks: { name: string; since: string; error: string | null }[] }

/**
 * Reconciler, over all tenants, safe with any number of workers: finds the sinks that are behind, and raises one alert per tenant
 * until no sink is.
 * @returns the number of sinks that are behind
 */
export async function checkAuditSinks(ctx: SystemCtx): Promise<number> {
  authorize(ctx, auditPermissions.seal)
  return inTransaction(ctx, async (tx, ctx) => {
    const { rows } = await tx.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended('muster audit sinks', 0)) as locked`,
    )
    if (!rows[0]!.locked) return 0
    await updateBehindSince(tx)
    const behind = await tx
      .select()
      .from(auditSinks)
      .where(isNotNull(auditSinks.behindSince))
      .orderBy(auditSinks.tenantId, auditSinks.name)
    const byTenant = Map.groupBy(behind, (sink) => sink.tenantId)
    const open = await tx
      .select()
      .from(alerts)
      .where(and(eq(alerts.kind, KIND), isNull(alerts.resolvedAt)))
    const events: ChangeEvent[] = []
    events.push(
      ...(await resolveAlerts(
        tx,
        open.filter(({ tenantId }) => !byTenant.has(tenantId)).map(({ tenantId }) => ({ tenantId, nodeId: null, kinds: [KIND] })),
      )),
    )
    const raised = [...byTenant].flatMap(([tenantId, sinks]) => {
      const evidence: SinkEvidence = {
        sinks: sinks.map(({ name, behindSince, lastError }) => ({ name, since: behindSince!.toISOString(), error: lastError })),
      }
      const known = open.find((alert) => alert.tenantId === tenantId)
      return known && namesOf(known) === namesOf({ evidence }) ? [] : [{ tenantId, nodeId: null, kind: KIND, evidence } as const]
    })
    events.push(...(await raiseAlerts(tx, raised)))
    for (const event of events) ctx.notify(event)
    return behind.length
  })
}

const namesOf = ({ evidence }: Pick<Alert, 'evidence'>): string =>
  JSON.stringify((evidence as SinkEvidence).sinks.map(({ name }) => name))

/** Updates `behindSince`. Entries that are not sealed yet count too. */
async function updateBehindSince(tx: Tx): Promise<void> {
  const oldest = (condition: ReturnType<typeof sql>, order: ReturnType<typeof sql>) =>
    sql`(select e.created_at from ${auditEntries} e where e.tenant_id = s.tenant_id and ${condition} order by ${order} limit 1)`
  await tx.execute(sql`with state as (
      select s.id, case when s.is_enabled then
        least(${oldest(sql`e.seq > s.delivered_seq`, sql`e.seq`)}, ${oldest(sql`e.seq is null`, sql`e.id`)}) end as oldest
      from ${auditSinks} s),
    evaluated as (select id, case when oldest < now() - ${BEHIND_AFTER} then oldest end as since from state)
    update ${auditSinks} s set behind_since = e.since from evaluated e where s.id = e.id and s.behind_since is distinct from e.since`)
}
