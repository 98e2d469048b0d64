import { sql } from 'drizzle-orm'
import { applyStateTransitions } from '../agents/index.ts'
import { type AgentState, agents, type DuplicateKeyEvidence } from '../agents/tables.ts'
import { type AlertKind, type RaisedAlert, type ResolvedAlert, raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import type { SystemCtx, Tx } from '../kernel/context.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { agentHeartbeats } from './tables.ts'

/** Findings of store-heartbeats.ts about one heartbeat. Fields without a finding are missing. */
export type HeartbeatFinding = {
  nodeId: string
  tenantId: string
  state?: AgentState
  sequence?: number
  gap?: number
  isOdd?: boolean
  interval?: number | null
  intervals?: number
  intervalMean?: number
  intervalM2?: number
  skewMs?: number
  isSkewNew?: boolean
  isSkewOver?: boolean
  /** The heartbeat was rejected, so none of its values is stored. */
  isRejected?: boolean
  version?: string | null
  isOtherVersion?: boolean
  /** The first reported fingerprint. */
  fingerprint?: string | null
  /** A fingerprint other than the approved one. */
  offered?: string
  /** Evidence of a second machine with the same key: the first one, or one that shows that both keep sending. */
  duplicateKeyEvidence?: DuplicateKeyEvidence
  isShared?: boolean
  gpusBefore?: number | null
  gpus?: number | null
  lostBefore?: number
  lost?: number
  /** Heartbeats before it may be missing because of an API or mass outage. */
  isExcused?: boolean
}

/**
 * Records findings, raises and resolves their alerts, and makes returning agents ACTIVE. The heartbeats are already stored. When this
 * fails, reconcile-agent-states.ts still applies the state transitions.
 */
export async function recordHeartbeatFindings(
  { db, notify, log }: Pick<SystemCtx, 'db' | 'notify' | 'log'>,
  notable: HeartbeatFinding[],
  now?: Date,
): Promise<void> {
  try {
    const changeEvents = await db.transaction(async (tx) => [
      ...(await noteIdentity(tx, notable)),
      ...(await recordRejectedClock(tx, notable)),
      ...(await noteDuplicateKeys(tx, notable)),
      ...(await alertOf(tx, notable)),
      ...(await reactivate(tx, notable, now)),
    ])
    for (const changeEvent of changeEvents) notify(changeEvent)
  } catch (error) {
    log.warn({ err: error, heartbeats: notable.length }, 'cannot record the findings of heartbeats')
  }
}

async function reactivate(tx: Tx, notable: HeartbeatFinding[], now?: Date): Promise<ChangeEvent[]> {
  const nodeIds = notable
    .filter(({ state }) => state === 'PENDING' || state === 'STALE' || state === 'OFFLINE')
    .map(({ nodeId }) => nodeId)
  return nodeIds.length > 0 ? (await applyStateTransitions(tx, nodeIds, now)).changeEvents : []
}

/** Records the version, the first fingerprint, and another fingerprint that waits for approval. */
async function noteIdentity(tx: Tx, notable: HeartbeatFinding[]): Promise<ChangeEvent[]> {
  const changed = notable.filter(({ isOtherVersion, fingerprint, offered }) => isOtherVersion || fingerprint || offered)
  if (changed.length === 0) return []
  const rows = JSON.stringify(
    changed.map(({ nodeId, version, isOtherVersion, fingerprint, offered }) => ({
      nodeId,
      version,
      isOtherVersion,
      fingerprint,
      offered,
    })),
  )
  await tx.execute(sql`
    with given as (select g.*, a.node_id from jsonb_to_recordset(${rows}::jsonb)
        as g("nodeId" uuid, version text, "isOtherVersion" boolean, fingerprint text, offered text)
      join ${agents} a on a.node_id = g."nodeId" order by a.node_id for update of a)
    update ${agents} a set version = case when t."isOtherVersion" then t.version else a.version end,
      fingerprint = coalesce(a.fingerprint, t.fingerprint), offered_fingerprint = coalesce(t.offered, a.offered_fingerprint),
      offered_fingerprint_at = case when t.offered is not null then now() else a.offered_fingerprint_at end
    from given t where t.node_id = a.node_id`)
  return changed.map(({ nodeId, tenantId }) => nodeChanged({ id: nodeId, tenantId }))
}

/** Records the clock skew of rejected heartbeats, so that the next accepted heartbeat can end the alert. */
async function recordRejectedClock(tx: Tx, notable: HeartbeatFinding[]): Promise<ChangeEvent[]> {
  const skewed = notable.filter(({ isRejected, skewMs }) => isRejected && skewMs !== undefined)
  if (skewed.length === 0) return []
  const rows = JSON.stringify(skewed.map(({ nodeId, skewMs }) => ({ nodeId, skewMs })))
  await tx.execute(sql`
    with given as (select g.*, b.node_id from jsonb_to_recordset(${rows}::jsonb) as g("nodeId" uuid, "skewMs" float8)
      join ${agentHeartbeats} b on b.node_id = g."nodeId" order by b.node_id for update of b)
    update ${agentHeartbeats} b set skew_ms = greatest(least("skewMs", 2147483647), -2147483647)::integer
    from given t where t.node_id = b.node_id`)
  return skewed.map(({ nodeId, tenantId }) => nodeChanged({ id: nodeId, tenantId }))
}

/** Stores the evidence to compare later heartbeats with. A shared key makes the agent untrusted. */
async function noteDuplicateKeys(tx: Tx, notable: HeartbeatFinding[]): Promise<ChangeEvent[]> {
  const found = notable.filter(({ duplicateKeyEvidence }) => duplicateKeyEvidence)
  if (found.length === 0) return []
  const rows = JSON.stringify(found.map(({ nodeId, duplicateKeyEvidence }) => ({ nodeId, duplicateKeyEvidence })))
  await tx.execute(sql`
    with given as (select g.*, a.node_id from jsonb_to_recordset(${rows}::jsonb) as g("nodeId" uuid, "duplicateKeyEvidence" jsonb)
      join ${agents} a on a.node_id = g."nodeId" order by a.node_id for update of a)
    update ${agents} a set duplicate_key_evidence = t."duplicateKeyEvidence" from given t where t.node_id = a.node_id`)
  return found.filter(({ isShared }) => isShared).map(({ nodeId, tenantId }) => nodeChanged({ id: nodeId, tenantId }))
}

async function alertOf(tx: Tx, notable: HeartbeatFinding[]): Promise<ChangeEvent[]> {
  const raised: RaisedAlert[] = []
  const resolved: ResolvedAlert[] = []
  for (const beat of notable) {
    const { nodeId, tenantId } = beat
    const raise = (kind: AlertKind, evidence: Record<string, unknown>) => raised.push({ tenantId, nodeId, kind, evidence })
    if (beat.isSkewNew) raise('clock_skew', { skewMs: beat.skewMs })
    if (beat.isSkewOver) resolved.push({ tenantId, nodeId, kinds: ['clock_skew'] })
    if (beat.offered) raise('fingerprint_changed', { fingerprint: beat.offered })
    if (beat.isShared) raise('key_shared', beat.duplicateKeyEvidence!)
    for (const kind of acceleratorsOf(beat)) raise(kind, { before: beat.gpusBefore, now: beat.gpus, lost: beat.lost })
    if (isWholeAgain(beat)) resolved.push({ tenantId, nodeId, kinds: ['accelerator_lost'] })
    if (beat.isExcused) continue
    if (beat.gap) raise('sequence_gap', { missed: beat.gap, sequence: beat.sequence })
    if (beat.isOdd) raise('anomaly', oddness(beat))
  }
  return [...(await resolveAlerts(tx, resolved)), ...(await raiseAlerts(tx, raised))]
}

const fewer = ({ gpus, gpusBefore }: HeartbeatFinding) => gpus != null && gpusBefore != null && gpus < gpusBefore
const more = ({ gpus, gpusBefore }: HeartbeatFinding) => gpus != null && gpusBefore != null && gpus > gpusBefore

function acceleratorsOf(beat: HeartbeatFinding): AlertKind[] {
  if (fewer(beat) || (beat.lost ?? 0) > (beat.lostBefore ?? 0)) return ['accelerator_lost']
  return more(beat) ? ['accelerator_count_changed'] : []
}

const isWholeAgain = (beat: HeartbeatFinding) => beat.lost === 0 && !fewer(beat) && (more(beat) || (beat.lostBefore ?? 0) > 0)

function oddness({ interval, intervals, intervalMean, intervalM2 }: HeartbeatFinding) {
  const deviation = Math.sqrt(intervalM2! / (intervals! - 1))
  return {
    intervalSeconds: interval,
    meanSeconds: intervalMean,
    deviationSeconds: deviation,
    zScore: deviation > 0 ? (interval! - intervalMean!) / deviation : null,
  }
}
