import { sql } from 'drizzle-orm'
import { type Alert, alerts, raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { computeNodes, nodeInterfaces } from '../nodes/tables.ts'
import { nodeBootChanged } from './change-events.ts'
import { bootPermissions } from './permissions.ts'
import { BOOT_STAGES, type BootStage } from './stages.ts'
import { bootAttempts, bootStageTimes } from './tables.ts'

/** A boot without progress ends after this time. */
const ABANDONED_AFTER = sql`interval '24 hours'`
const KINDS = ['boot_stuck', 'boot_no_fetch'] as const

/** The facts of an alert about a boot that does not progress. */
export type BootStuckEvidence = { stage: BootStage; since: string }

/**
 * Reconciler, over all tenants: derives the stages that other facts show (first contact, kernel, discovery, READY) for boots in progress,
 * ends boots, and raises and resolves the alerts of boots that do not progress. Idempotent; any number of workers may run it.
 * @returns the number of nodes whose boot changed
 */
export async function observeBoots(ctx: SystemCtx): Promise<number> {
  authorize(ctx, bootPermissions.observe)
  return inTransaction(ctx, async (tx, ctx) => {
    const { rows: locks } = await tx.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended('muster boots', 0)) as locked`,
    )
    if (!locks[0]!.locked) return 0
    // A heartbeat or connection before the boot script can come from the system that shuts down.
    const { rows: reached } = await tx.execute<{ node_id: string; tenant_id: string }>(sql`
      with began as (select a.id, a.node_id, a.tenant_id, max(s.reached_at) as at from ${bootAttempts} a
          join ${bootStageTimes} s on s.attempt_id = a.id and s.stage in ('POWER_ON', 'BOOT_SCRIPT', 'CLOUD_INIT')
          where a.finished_at is null group by a.id),
        facts as (select b.*, case when n.booted_at > b.at then n.booted_at end as kernel,
            least(case when h.received_at > b.at then h.received_at end, case when n.last_seen_at > b.at then n.last_seen_at end) as contact,
            case when n.discovered_at > b.at then n.discovered_at end as discovered,
            case when n.status = 'READY' then n.ready_at end as ready
          from began b join ${computeNodes} n on n.id = b.node_id left join ${agentHeartbeats} h on h.node_id = n.id),
        added as (insert into ${bootStageTimes} (attempt_id, stage, reached_at)
          select f.id, s.stage, s.at from facts f, lateral (values ('KERNEL', f.kernel), ('FIRST_CONTACT', f.contact),
            ('DISCOVERED', f.discovered), ('READY', case when f.ready is not null then greatest(f.ready, f.contact) end)) as s(stage, at)
          where s.at is not null and (s.stage <> 'READY' or f.contact is not null)
          on conflict do nothing returning attempt_id, stage),
        ended as (update ${bootAttempts} a set finished_at = now() from added where added.attempt_id = a.id and added.stage = 'READY'
          returning a.id)
      select distinct f.node_id, f.tenant_id from facts f join added on added.attempt_id = f.id`)
    await tx.execute(sql`update ${bootAttempts} set finished_at = now(), is_abandoned = true
      where finished_at is null and started_at < now() - ${ABANDONED_AFTER}`)
    await updateAlerts(tx, ctx)
    for (const { node_id: id, tenant_id: tenantId } of reached) ctx.notify(nodeBootChanged({ id, tenantId }))
    return reached.length
  })
}

const STUCK_AFTER = JSON.stringify(
  Object.entries(BOOT_STAGES).flatMap(([stage, { stuckAfterSeconds }]) =>
    stuckAfterSeconds === null ? [] : [{ stage, seconds: stuckAfterSeconds }],
  ),
)

async function updateAlerts(tx: Parameters<typeof raiseAlerts>[0], ctx: SystemCtx): Promise<void> {
  const { rows } = await tx.execute<{ node_id: string; tenant_id: string; stage: BootStage; since: string }>(sql`
    select a.node_id, a.tenant_id, s.stage, s.reached_at::text as since from ${bootAttempts} a
    cross join lateral (select s.* from ${bootStageTimes} s where s.attempt_id = a.id order by s.reached_at desc limit 1) s
    join jsonb_to_recordset(${STUCK_AFTER}::jsonb) as limits(stage text, seconds int) on limits.stage = s.stage
    where a.finished_at is null and (s.stage <> 'POWER_ON' or exists (
        select from ${nodeInterfaces} i where i.node_id = a.node_id and i.is_boot)) and s.reached_at < now() - make_interval(secs => limits.seconds)`)
  const stuck = new Map(rows.map((row) => [`${row.node_id} ${row.stage === 'POWER_ON' ? KINDS[1] : KINDS[0]}`, row]))
  const { rows: open } = await tx.execute<Pick<Alert, 'kind'> & { node_id: string; tenant_id: string }>(
    sql`select kind, node_id, tenant_id from ${alerts} where kind in ${[...KINDS]} and resolved_at is null and is_latest`,
  )
  const isOpen = new Set(open.map(({ node_id, kind }) => `${node_id} ${kind}`))
  const over = open.filter(({ node_id, kind }) => !stuck.has(`${node_id} ${kind}`))
  const events = await resolveAlerts(
    tx,
    over.map(({ tenant_id, node_id, kind }) => ({ tenantId: tenant_id, nodeId: node_id, kinds: [kind] })),
  )
  const raised = [...stuck].flatMap(([key, { tenant_id, node_id, stage, since }]) => {
    const evidence: BootStuckEvidence = { stage, since: new Date(since).toISOString() }
    const kind = stage === 'POWER_ON' ? KINDS[1] : KINDS[0]
    return isOpen.has(key) ? [] : [{ tenantId: tenant_id, nodeId: node_id, kind, evidence }]
  })
  for (const event of [...events, ...(await raiseAlerts(tx, raised))]) ctx.notify(event)
}
