import { type SQL, sql } from 'drizzle-orm'
import { ALERT_KINDS, type AlertKind, type RaisedAlert, type ResolvedAlert, raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import { slurmClusters, slurmNodes } from '../clusters/tables.ts'
import { agentHeartbeats, ingestLiveness } from '../heartbeats/tables.ts'
import type { Tx } from '../kernel/context.ts'
import { sqlNow, sqlSeconds } from '../kernel/db/sql-time.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes } from '../nodes/tables.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import { type AgentFacts, type AgentReason, RULES } from './state-machine.ts'
import { type AgentState, agentKeys, agentOutages, agentSettings, agents, agentTransitions } from './tables.ts'

/** When no API process reported liveness for this long, heartbeats cannot arrive. */
export const INGEST_DOWN_AFTER_SECONDS = 15

type Move = {
  nodeId: string
  tenantId: string
  from: AgentState
  to: AgentState
  reason: AgentReason
  /** Reason of the state that it leaves. */
  fromReason: AgentReason
  /** Whether the agent is in a mass outage now. */
  isInMassOutage: boolean
  /** Whether it became STALE in a mass outage. */
  wasInMassOutage: boolean
  /** A further transition applies to the same facts. */
  hasNextTransition: boolean
  evidence: Record<string, unknown>
}

/**
 * Applies the rules of state-machine.ts to these agents, by the database's time. One statement makes one step for all agents;
 * an agent that returns with a pending drain takes two. Skips locked agents until the next call.
 * @param at replaces the database's time in tests
 * @returns the number of transitions, and the change events to send after the commit
 */
export async function applyStateTransitions(
  tx: Tx,
  nodeIds: string[],
  at?: Date,
): Promise<{ moved: number; changeEvents: ChangeEvent[] }> {
  const moves: Move[] = []
  for (let left = nodeIds; left.length > 0; ) {
    const step = await moveOnce(tx, left, sqlNow(at))
    moves.push(...step)
    left = step.filter(({ hasNextTransition }) => hasNextTransition).map(({ nodeId }) => nodeId)
  }
  return { moved: moves.length, changeEvents: await recordEffects(tx, moves) }
}

/**
 * Agents to which a transition may apply: few in a healthy fleet. The cost is one scan of the narrow heartbeat rows.
 * @param isQuick excludes OFFLINE agents
 */
export async function findTransitionCandidates(tx: Tx, at: Date | undefined, isQuick: boolean): Promise<string[]> {
  const now = sqlNow(at)
  const { staleAfterSeconds, offlineAfterSeconds } = DEFAULT_SETTINGS
  const ago = (chosen: SQL) => sql`${now} - ${sqlSeconds(sql`(select ${chosen} from ${agentSettings})`)}`
  const settled = isQuick ? sql`'DEREGISTERED', 'OFFLINE'` : sql`'DEREGISTERED'`
  // PENDING and STALE last for minutes, perhaps for a whole site: candidates only when heard again or due to be OFFLINE.
  const { rows } = await tx.execute<{ id: string }>(sql`
    (select node_id as id from ${agentHeartbeats}
        where reported_drain is not null or received_at < ${ago(sql`least(${staleAfterSeconds}::integer, min(stale_after_seconds))`)}
      except select node_id from ${agents} where state in ('STALE', ${settled}))
    union select a.node_id from ${agents} a join ${agentHeartbeats} b using (node_id)
      where (a.state <> 'ACTIVE' or a.drain_requested_at is not null) and a.state <> 'DEREGISTERED' and a.state not in (${settled})
        and (a.state not in ('PENDING', 'STALE') or b.received_at >= ${ago(sql`greatest(${staleAfterSeconds}::integer, max(stale_after_seconds))`)}
          or greatest(b.received_at, a.registered_at) < ${ago(sql`least(${offlineAfterSeconds}::integer, min(offline_after_seconds))`)}
          and not exists (select from ${agentOutages} s
            where s.tenant_id = a.tenant_id and (s.cluster is null or s.cluster = a.cluster) and s.ended_at is null))
    ${
      isQuick
        ? sql``
        : sql`union select a.node_id from ${agents} a join ${computeNodes} n on n.id = a.node_id
      where n.decommissioned_at is not null and a.state <> 'DEREGISTERED'`
    }`)
  return rows.map(({ id }) => id)
}

async function moveOnce(tx: Tx, nodeIds: string[], now: SQL): Promise<Move[]> {
  const to = sql.param(RULES.map((rule) => rule.to))
  const reasons = sql.param(RULES.map((rule) => rule.reason))
  const { rows } = await tx.execute<Move>(sql`
    with may_move(node_id) as (select unnest(${sql.param(nodeIds)}::uuid[])),
    facts as (${facts(now)}),
    verdict as materialized (select f.*, ${firstMatchingRule('f.state')} as rule from facts f),
    step as (
      select v.*, (${to}::text[])[v.rule] as "to", (${reasons}::text[])[v.rule] as reason,
        jsonb_strip_nulls(jsonb_build_object('lastHeartbeatAt', v.received_at, 'silentSeconds', round(extract(epoch from ${now} - v.since)::numeric, 3),
          'bootEpoch', v.boot_epoch, 'sequence', v.sequence, 'slurmState', v.slurm_state, 'runningJobs', v.running_jobs,
          'drainRequestedByName', v.drain_requested_by_name, 'drainRequestedById', v.drain_requested_by_id, 'drainReason', v.drain_reason,
          'rejectionCode', case when v.rejected_at > v.received_at then v.rejection_code end,
          'rejectionCount', case when v.rejected_at > v.received_at then v.rejection_count end,
          'isOfflineSuppressed', nullif(v."isInMassOutage", false))) as evidence
      from verdict v join ${agents} a on a.node_id = v.node_id and a.state = v.state
      where v.rule is not null
      order by v.node_id for update of a skip locked),
    moved as (
      update ${agents} a set state = s."to", state_reason = s.reason, state_since = ${now},
        offline_suppressed_at = case when s."to" = 'STALE' and s."isInMassOutage" then ${now} end
      from step s where a.node_id = s.node_id),
    noted as (
      insert into ${agentTransitions} (tenant_id, node_id, "from", "to", reason, evidence, at)
      select tenant_id, node_id, state, "to", reason, evidence, ${now} from step order by since, node_id)
    select node_id as "nodeId", tenant_id as "tenantId", state as "from", "to", reason, state_reason as "fromReason", "isInMassOutage",
      offline_suppressed_at is not null as "wasInMassOutage", ${firstMatchingRule('f."to"')} is not null as "hasNextTransition", evidence from step f order by since, node_id`)
  return rows
}

/**
 * The controllers of all clusters that Muster asked report the node as drained, which means without jobs, or no longer have it. The
 * suffixes of states, such as * for a silent slurmd, do not matter.
 */
const isDrainedInSlurm = sql`not exists (
  select from jsonb_to_recordset(a.slurm_drains) as d("clusterId" uuid, name text)
    left join ${slurmNodes} s on s.cluster_id = d."clusterId" and s.name = d.name
    left join ${slurmClusters} c on c.id = d."clusterId"
  where (c.refreshed_at > a.drain_requested_at and (s.name is null or rtrim(s.state, '$^@#%~!*+-') = 'DRAINED')) is not true)`

/** AgentFacts of every candidate, named as in TypeScript. */
const facts = (now: SQL) => sql`
  select a.*, b.received_at, b.boot_epoch, b.sequence, b.slurm_state, b.running_jobs, quiet.since,
    coalesce(b.received_at >= ${now} - rule.stale, false) as "isHeard",
    not ingest.is_down and quiet.since < ${now} - rule.stale as "isStale",
    not ingest.is_down and quiet.since < ${now} - rule.offline as "isSilent",
    exists (select 1 from ${agentOutages} s where s.tenant_id = a.tenant_id and (s.cluster is null or s.cluster = a.cluster)
      and (s.ended_at is null or s.ended_at > ${now} - rule.stale)) as "isInMassOutage",
    a.drain_requested_at is not null as "isDrainRequested",
    b.reported_drain is not null as "isSlurmDrain",
    coalesce(b.reported_drain = 'DRAINED' or a.drain_requested_at is not null and case when a.slurm_drains = '[]'
      then b.reported_drain is null and b.received_at >= a.drain_requested_at and b.running_jobs = 0
      else coalesce(b.running_jobs, 0) = 0 and ${isDrainedInSlurm} end, false) as "isDrained",
    n.decommissioned_at is not null as "isDecommissioned",
    coalesce(a.state_since < ${now} - make_interval(days => t.deregister_after_days), false) as "isAged"
  from may_move
  join ${agents} a using (node_id)
  join ${agentHeartbeats} b using (node_id)
  join ${computeNodes} n on n.id = a.node_id
  left join ${agentSettings} t on t.tenant_id = a.tenant_id
  cross join lateral (select
    ${sqlSeconds(sql`coalesce(t.stale_after_seconds, ${DEFAULT_SETTINGS.staleAfterSeconds})`)} as stale,
    ${sqlSeconds(sql`coalesce(t.offline_after_seconds, ${DEFAULT_SETTINGS.offlineAfterSeconds})`)} as offline) rule
  cross join (select max(up_since) as up_since,
    coalesce(max(alive_at) < ${now} - ${sqlSeconds(INGEST_DOWN_AFTER_SECONDS)}, false) as is_down from ${ingestLiveness}) ingest
  cross join lateral (select greatest(b.received_at, a.registered_at, ingest.up_since) as since) quiet`

/** Number of the first rule that applies to an agent in this state, from 1; null when none does. */
function firstMatchingRule(state: 'f.state' | 'f."to"'): SQL {
  const holds = (name: keyof AgentFacts | `!${keyof AgentFacts}`) =>
    name.replace(/^(!?)(\w+)$/, (_, not, fact) => `${not && 'not '}f."${fact}"`)
  const whens = RULES.map(({ from, when }, i) => `when ${state} = '${from}' and ${when.map(holds).join(' and ')} then ${i + 1}`)
  return sql.raw(`case ${whens.join('\n')} end`)
}

/** Raises and resolves alerts for transitions, and revokes the keys of deregistered agents. */
async function recordEffects(tx: Tx, moves: Move[]): Promise<ChangeEvent[]> {
  const resolved: ResolvedAlert[] = []
  const raised: RaisedAlert[] = []
  for (const { nodeId, tenantId, from, to, fromReason, isInMassOutage, wasInMassOutage, evidence } of moves) {
    const wasAway = from === 'STALE' || from === 'OFFLINE' || fromReason === 'registered_again'
    const resolve = (...kinds: AlertKind[]) => resolved.push({ tenantId, nodeId, kinds })
    const raise = (kind: AlertKind) => raised.push({ tenantId, nodeId, kind, evidence })
    if (to === 'STALE' && !isInMassOutage) raise('stale')
    if (to === 'OFFLINE') {
      resolve('stale')
      raise('offline')
    }
    if (to === 'ACTIVE' && wasAway) {
      resolve('stale', 'offline')
      if (!wasInMassOutage) raise('recovered')
    }
    if (to === 'DEREGISTERED') resolve(...ALERT_KINDS)
  }
  const ended = moves.filter(({ to }) => to === 'DEREGISTERED').map(({ nodeId }) => nodeId)
  if (ended.length > 0)
    await tx.execute(sql`update ${agentKeys} set status = 'REVOKED', revoked_at = now(), revoked_by_name = 'Muster',
      revoked_reason = 'the agent was deregistered' where node_id = any(${sql.param(ended)}::uuid[]) and status <> 'REVOKED'`)
  const changeEvents = [...(await resolveAlerts(tx, resolved)), ...(await raiseAlerts(tx, raised))]
  return [...changeEvents, ...moves.map(({ nodeId, tenantId }) => nodeChanged({ id: nodeId, tenantId }))]
}
