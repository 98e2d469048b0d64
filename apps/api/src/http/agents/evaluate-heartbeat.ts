import { batch } from '@muster/core/batch'
import { systemCtx } from '@muster/core/context'
import { acceptHeartbeats, type HeartbeatVerdict, type SignedHeartbeat } from '@muster/core/heartbeats'
import type { Runtime } from '@muster/core/registry'
import {
  Heartbeat,
  type ParsedHeartbeat,
  parseHeartbeat,
  type Rejection,
  type RejectionCode,
  shapeRejection,
  trimHeartbeat,
  verify,
} from '@muster/protocol'
import { createAgentCache, type VerifiableAgent } from './agent-cache.ts'
import { createIntervalCache } from './heartbeat-intervals.ts'
import type { HeartbeatMetrics } from './metrics.ts'
import { createRejectionRecorder } from './rejection-recorder.ts'

/** `sequence`: the accepted one; `nextHeartbeatSeconds`: requested interval until the next heartbeat. */
export type Verdict = { sequence?: number; nextHeartbeatSeconds?: number } | Rejection

/** Maximum number of heartbeats per commit, and of heartbeats that wait for a commit. */
const MAX_PER_COMMIT = 1000
const MAX_QUEUED = 4000
/** Maximum number of signature verifications per heartbeat: many tenants can have an agent of one name, each with several keys. */
const MAX_VERIFICATIONS = 64

const rejection = (code: RejectionCode, message: string): Rejection => ({ code, message })
const MESSAGES: Record<Exclude<HeartbeatVerdict, 'accepted'>, string> = {
  node_not_registered: 'No agent with this name is registered. Register the agent first.',
  signature_invalid:
    'The signature does not match any allowed key of this agent; its key may be revoked or waiting for approval. Register the agent again, or allow its key.',
  timestamp_out_of_range: 'The timestamp differs from the server time by more than 5 minutes. Synchronize the clock of the node.',
  stale_sequence:
    'A heartbeat with this or a later sequence number was already accepted, or this one was sent before the sequence was reset. An agent that lost its sequence needs a reset: `muster agent reset-sequence`.',
  invalid_request: 'The heartbeat has values out of range.',
  approval_pending: 'The hardware fingerprint changed. An operator must approve the change.',
  busy: 'The server is overloaded. Retry after the time in Retry-After.',
}

/**
 * Validates heartbeats in the order of the wire protocol: shape, agent, key, signature, timestamp, sequence, bounds. Valid heartbeats
 * are stored in batches, one commit at a time, and acknowledged after the commit.
 */
export function createHeartbeatEvaluator(runtime: Runtime, metrics: HeartbeatMetrics): (body: Uint8Array) => Promise<Verdict> {
  const agents = createAgentCache(runtime)
  const intervalOf = createIntervalCache(runtime)
  const recordRejection = createRejectionRecorder(runtime)
  const store = batch((heartbeats: SignedHeartbeat[]) => acceptHeartbeats(systemCtx(runtime), heartbeats), MAX_PER_COMMIT)
  let queued = 0

  return async (body) => {
    const parsed = parseHeartbeat(body)
    if ('code' in parsed) return parsed
    const { nodeId: name, signed, bootEpoch, sequence, time } = parsed
    let signer = findSigner(await agents.find(name), parsed)
    if ('code' in signer) {
      const refreshed = await agents.refresh(name)
      if (refreshed) signer = findSigner(refreshed, parsed)
    }
    if ('code' in signer) {
      const { nodeId, ...reason } = signer
      if (nodeId) recordRejection(nodeId, reason, 'anybody')
      return reason
    }
    if (queued >= MAX_QUEUED) return rejection('busy', MESSAGES.busy)
    const bounds = Heartbeat.safeParse(parsed.heartbeat)
    const heartbeat = bounds.data ?? trimHeartbeat(parsed.heartbeat)
    // Readers of reports rely on the bounds, so a trimmed heartbeat is stored in place of the signed one.
    const report = bounds.data || !heartbeat ? signed : Buffer.from(JSON.stringify(heartbeat))
    metrics.queued.set(++queued)
    const { tenantId, ...signedBy } = signer
    const verdict = await store({ ...signedBy, bootEpoch, sequence, time, heartbeat, signed: report }).finally(() =>
      metrics.queued.set(--queued),
    )
    if (verdict === 'accepted') return { sequence, nextHeartbeatSeconds: await intervalOf(tenantId) }
    // The cache was outdated: the key was revoked, or the name belongs to another agent now.
    if (verdict === 'signature_invalid' || verdict === 'node_not_registered') agents.evict(name)
    const reason =
      verdict === 'invalid_request' && bounds.error
        ? shapeRejection(bounds.error, parsed.heartbeat)
        : rejection(verdict, MESSAGES[verdict])
    if (verdict !== 'busy') recordRejection(signer.nodeId, reason, 'signer')
    return reason
  }
}

/** Finds the agent of that name with a key that verifies the signature. A rejection names the node if only one can be meant. */
function findSigner(
  agents: VerifiableAgent[],
  parsed: ParsedHeartbeat,
): Pick<SignedHeartbeat & VerifiableAgent, 'nodeId' | 'keyId' | 'tenantId'> | (Rejection & { nodeId?: string }) {
  const registered = agents.filter(({ state }) => state !== 'DEREGISTERED')
  if (registered.length === 0) return rejection('node_not_registered', MESSAGES.node_not_registered)
  const inCluster = registered.filter(({ cluster }) => cluster === parsed.clusterId)
  if (inCluster.length === 0)
    return {
      ...rejection(
        'cluster_mismatch',
        `${parsed.nodeId} is registered in another cluster. Check the cluster ID in the configuration of the agent.`,
      ),
      ...onlyNode(registered),
    }
  // The first key of each agent comes before the second of any: an agent with many keys must not exhaust the limit for others.
  const candidates = inCluster
    .flatMap(({ nodeId, tenantId, signers }) => signers.map((signer, rank) => ({ nodeId, tenantId, rank, ...signer })))
    .sort((a, b) => a.rank - b.rank)
  const signer = candidates.slice(0, MAX_VERIFICATIONS).find(({ key }) => verify(parsed.signed, parsed.signature, key))
  return signer
    ? { nodeId: signer.nodeId, tenantId: signer.tenantId, keyId: signer.id }
    : { ...rejection('signature_invalid', MESSAGES.signature_invalid), ...onlyNode(inCluster) }
}

const onlyNode = (agents: VerifiableAgent[]): { nodeId?: string } => (agents.length === 1 ? { nodeId: agents[0]!.nodeId } : {})
