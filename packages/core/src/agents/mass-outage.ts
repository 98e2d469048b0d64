import { and, inArray, isNull, sql } from 'drizzle-orm'
import { raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import { agentHeartbeats, ingestLiveness } from '../heartbeats/tables.ts'
import type { Tx } from '../kernel/context.ts'
import { sqlNow, sqlSeconds } from '../kernel/db/sql-time.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { INGEST_DOWN_AFTER_SECONDS } from './apply-state-transitions.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import { type AgentOutage, agentOutages, agentSettings, agents } from './tables.ts'

/** An API restart shorter than this raises no alert. */
const INGEST_ALERT_AFTER_S = 60
/** States in which heartbeats are expected. */
const LIVE = sql`('ACTIVE', 'STALE', 'DRAINING', 'DRAINED')`

type Scope = Pick<AgentOutage, 'tenantId' | 'cluster'>
type Mass = Scope & { silent: number; total: number }

/**
 * Detects mass outages: too many silent agents in a tenant or cluster at once. The likely cause is the network or Muster, not the
 * nodes. During one, a single alert covers all nodes and none becomes OFFLINE. Afterwards, silent agents
 * get the time until STALE again.
 * @returns the change events to send after the commit
 */
export async function suppressMassOutage(tx: Tx, now?: Date): Promise<ChangeEvent[]> {
  const open = await tx.select().from(agentOutages).where(isNull(agentOutages.endedAt))
  const counts = await findMass(tx, now)
  const wholeTenants = new Set(counts.filter(({ cluster }) => cluster === null).map(({ tenantId }) => tenantId))
  // An outage of the tenant includes its clusters.
  const mass = counts.filter(({ tenantId, cluster }) => cluster === null || !wholeTenants.has(tenantId))
  const isSame = (a: Scope) => (b: Scope) => a.tenantId === b.tenantId && a.cluster === b.cluster
  const begun = mass.filter((scope) => !open.some(isSame(scope)))
  const over = open.filter((scope) => !mass.some(isSame(scope)))
  if (over.length > 0)
    await tx
      .update(agentOutages)
      .set({ endedAt: sqlNow(now) })
      .where(
        and(
          isNull(agentOutages.endedAt),
          inArray(
            agentOutages.id,
            over.map(({ id }) => id),
          ),
        ),
      )
  for (const { tenantId, cluster, silent, total } of begun) {
    await tx.insert(agentOutages).values({ tenantId, cluster, silent, total, startedAt: sqlNow(now) })
    await tx.execute(sql`update ${agents} set offline_suppressed_at = ${sqlNow(now)} where state = 'STALE' and offline_suppressed_at is null
      and tenant_id = ${tenantId} and (${cluster}::text is null or cluster = ${cluster})`)
  }
  const alert = { nodeId: null, kind: 'mass_outage' as const }
  return [
    ...(await resolveAlerts(
      tx,
      over.map(({ tenantId, cluster }) => ({ tenantId, cluster, nodeId: null, kinds: ['mass_outage'] })),
    )),
    ...(await raiseAlerts(
      tx,
      begun.map(({ tenantId, cluster, silent, total }) => ({
        ...alert,
        tenantId,
        cluster,
        evidence: { silentNodes: silent, totalNodes: total },
      })),
    )),
  ]
}

/**
 * Tenants and clusters with a mass outage. An agent with one missed heartbeat counts as silent: when the first of many is STALE,
 * the others have missed one.
 */
async function findMass(tx: Tx, now: Date | undefined): Promise<Mass[]> {
  const at = sqlNow(now)
  const { staleAfterSeconds, heartbeatIntervalSeconds, massOutageMinNodes, massOutagePercent } = DEFAULT_SETTINGS
  const quietAfter = sqlSeconds(
    sql`(select least(${staleAfterSeconds - heartbeatIntervalSeconds}::integer, min(stale_after_seconds - heartbeat_interval_seconds)) from ${agentSettings})`,
  )
  const { rows } = await tx.execute<{ isDown: boolean; isLongDown: boolean; isQuiet: boolean }>(sql`
    select coalesce(max(alive_at) < ${at} - ${sqlSeconds(INGEST_DOWN_AFTER_SECONDS)}, false) as "isDown",
      coalesce(max(alive_at) < ${at} - ${sqlSeconds(INGEST_ALERT_AFTER_S)}, false) as "isLongDown",
      exists (select 1 from ${agentHeartbeats} where received_at < ${at} - ${quietAfter}) as "isQuiet" from ${ingestLiveness}`)
  const { isDown, isLongDown, isQuiet } = rows[0]!
  // A healthy fleet has nothing to count.
  if (!(isLongDown || (isQuiet && !isDown))) return []
  const isSilent = sql`b.received_at < ${at} - ${quietAfter} and greatest(b.received_at, a.registered_at, (select max(up_since) from ${ingestLiveness}))
    < ${at} - ${sqlSeconds(sql`coalesce(t.stale_after_seconds - t.heartbeat_interval_seconds, ${staleAfterSeconds - heartbeatIntervalSeconds})`)}`
  const percent = sql`coalesce(t.mass_outage_percent, ${massOutagePercent})`
  // Counts the others only until the silent ones are known to be below the limit.
  const counted = await tx.execute<Mass>(sql`
    with silent as (
      select a.tenant_id, a.cluster, grouping(a.cluster) = 1 as is_whole, count(*) as silent
      from ${agentHeartbeats} b join ${agents} a using (node_id) left join ${agentSettings} t on t.tenant_id = a.tenant_id
      where a.state in ${LIVE} and ${isLongDown ? sql`true` : isSilent} group by a.tenant_id, rollup(a.cluster))
    select s.tenant_id as "tenantId", case when not s.is_whole then s.cluster end as cluster, s.silent::int as silent, c.total::int as total
    from silent s left join ${agentSettings} t on t.tenant_id = s.tenant_id
    cross join lateral (select count(*) as total from (select from ${agents} a where a.tenant_id = s.tenant_id
      and (s.is_whole or a.cluster = s.cluster) and a.state in ${LIVE} limit s.silent * 100 / ${percent} + 1) enough) c
    where s.is_whole and ${isLongDown} or s.silent >= coalesce(t.mass_outage_min_nodes, ${massOutageMinNodes})
      and s.silent * 100 > ${percent} * c.total`)
  return counted.rows
}
