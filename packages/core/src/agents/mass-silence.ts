import { and, inArray, isNull, sql } from 'drizzle-orm'
import { raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import type { Tx } from '../context.ts'
import type { Nudge } from '../events.ts'
import { INGEST_DOWN_AFTER_S } from './judge.ts'
import { moment, seconds } from './moment.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import { type AgentSilence, agentBeats, agentIngest, agentSettings, agentSilences, agents } from './tables.ts'

/** A restart of the API is no news before it has lasted so long. */
const INGEST_ALERT_AFTER_S = 60
/** Those that are expected to be heard. */
const LIVE = sql`('ACTIVE', 'STALE', 'DRAINING', 'DRAINED')`

type Scope = Pick<AgentSilence, 'tenantId' | 'cluster'>
type Count = Scope & { silent: number; total: number; isMass: boolean }

/**
 * Look whether too much of a tenant or of one of its clusters is silent at once, which is more likely to be a fault of the network or
 * of ours than of the nodes. While it is, one alert about it stands for all, and nobody is called OFFLINE; afterwards those that stay
 * silent get the time until STALE once more.
 * @returns the nudges to send after the commit
 */
export async function holdMassSilence(tx: Tx, now?: Date): Promise<Nudge[]> {
  const open = await tx.select().from(agentSilences).where(isNull(agentSilences.endedAt))
  const counts = await countSilent(tx, now, [...new Set(open.map(({ tenantId }) => tenantId))])
  const wholeTenants = new Set(counts.filter(({ cluster, isMass }) => isMass && cluster === null).map(({ tenantId }) => tenantId))
  // What is said of the tenant is not said again of its clusters.
  const mass = counts.filter(({ tenantId, cluster, isMass }) => isMass && (cluster === null || !wholeTenants.has(tenantId)))
  const isSame = (a: Scope) => (b: Scope) => a.tenantId === b.tenantId && a.cluster === b.cluster
  const begun = mass.filter((scope) => !open.some(isSame(scope)))
  const over = open.filter((scope) => !mass.some(isSame(scope)))
  if (over.length > 0)
    await tx
      .update(agentSilences)
      .set({ endedAt: moment(now) })
      .where(
        and(
          isNull(agentSilences.endedAt),
          inArray(
            agentSilences.id,
            over.map(({ id }) => id),
          ),
        ),
      )
  for (const { tenantId, cluster, silent, total } of begun) {
    await tx.insert(agentSilences).values({ tenantId, cluster, silent, total, startedAt: moment(now) })
    await tx.execute(sql`update ${agents} set held_at = ${moment(now)} where state = 'STALE' and held_at is null
      and tenant_id = ${tenantId} and (${cluster}::text is null or cluster = ${cluster})`)
  }
  const alert = { nodeId: null, kind: 'ingest_silent' as const }
  return [
    ...(await resolveAlerts(
      tx,
      over.map(({ tenantId, cluster }) => ({ tenantId, cluster, nodeId: null, kinds: ['ingest_silent'] })),
    )),
    ...(await raiseAlerts(
      tx,
      begun.map(({ tenantId, cluster, silent, total }) => ({ ...alert, tenantId, cluster, evidence: { silent, total } })),
    )),
  ]
}

/**
 * Tenants and clusters of which something is silent, and those of `tenantIds`. Who has missed a heartbeat already counts as silent:
 * when the first of many is STALE, the others of them are seen to be on their way.
 */
async function countSilent(tx: Tx, now: Date | undefined, tenantIds: string[]): Promise<Count[]> {
  const at = moment(now)
  const { staleAfterS, heartbeatS } = DEFAULT_SETTINGS
  const quietBefore = sql`${at} - ${seconds(sql`(select least(${staleAfterS - heartbeatS}::integer, min(stale_after_s - heartbeat_s)) from ${agentSettings})`)}`
  // In a fleet that is well there is nothing to count.
  const { rows: worth } = await tx.execute<{ is: boolean }>(sql`select exists (select 1 from ${agentIngest}
    where alive_at < ${at} - ${seconds(INGEST_ALERT_AFTER_S)}) or exists (select 1 from ${agentBeats} where heard_at < ${quietBefore}) as is`)
  if (!worth[0]!.is && tenantIds.length === 0) return []
  const { rows } = await tx.execute<Count>(sql`
    with ingest as (select max(up_since) as up_since, coalesce(max(alive_at) < ${at} - ${seconds(INGEST_DOWN_AFTER_S)}, false) as is_down,
      coalesce(max(alive_at) < ${at} - ${seconds(INGEST_ALERT_AFTER_S)}, false) as is_long_down from ${agentIngest}),
    silent as (
      select a.tenant_id, a.cluster, count(*) as silent
      from ${agentBeats} b join ${agents} a using (node_id) left join ${agentSettings} t on t.tenant_id = a.tenant_id cross join ingest
      where a.state in ${LIVE} and (ingest.is_long_down or not ingest.is_down
        and b.heard_at < ${quietBefore}
        and greatest(b.heard_at, a.registered_at, ingest.up_since)
          < ${at} - ${seconds(sql`coalesce(t.stale_after_s - t.heartbeat_s, ${staleAfterS - heartbeatS})`)})
      group by a.tenant_id, a.cluster),
    total as (
      select tenant_id, cluster, count(*) as total from ${agents}
      where state in ${LIVE} and tenant_id = any(array(select tenant_id from silent) || ${sql.param(tenantIds)}::uuid[])
      group by tenant_id, cluster),
    scope as (
      select tenant_id, cluster, sum(coalesce(silent, 0)) as silent, sum(total) as total, grouping(cluster) = 1 as is_whole
      from total left join silent using (tenant_id, cluster) group by tenant_id, rollup(cluster))
    select s.tenant_id as "tenantId", case when not s.is_whole then s.cluster end as cluster, s.silent::int as silent, s.total::int as total,
      s.is_whole and ingest.is_long_down or s.silent >= coalesce(t.mass_silence_nodes, ${DEFAULT_SETTINGS.massSilenceNodes})
        and s.silent * 100 > coalesce(t.mass_silence_percent, ${DEFAULT_SETTINGS.massSilencePercent}) * s.total as "isMass"
    from scope s cross join ingest left join ${agentSettings} t on t.tenant_id = s.tenant_id`)
  return rows
}
