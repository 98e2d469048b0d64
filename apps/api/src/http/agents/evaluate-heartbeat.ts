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
  verify,
} from '@muster/protocol'
import { type Known, rememberAgents } from './agent-cache.ts'
import { rememberIntervals } from './heartbeat-intervals.ts'
import type { HeartbeatMetrics } from './metrics.ts'

/** `nextS`: in how many seconds the next heartbeat is wanted. */
export type Verdict = { nextS?: number } | Rejection

/** Heartbeats that one commit takes, and that may wait for the next. */
const PER_COMMIT = 1000
const MOST_WAITING = 4000
/** Signatures that one heartbeat may cost: a name may be known in many tenants, with several keys. */
const MOST_TRIES = 64

const refused = (code: RejectionCode, message: string): Rejection => ({ code, message })
const MESSAGES: Record<Exclude<HeartbeatVerdict, 'accepted'>, string> = {
  node_not_registered: 'No agent of this name is registered; register it first.',
  signature_invalid: 'The signature is not of a key that is allowed for this agent.',
  timestamp_out_of_range: "The heartbeat's time is more than five minutes off; set the node's clock.",
  stale_sequence: 'A heartbeat with this sequence or a later one came before.',
  invalid_request: 'The heartbeat is out of its bounds.',
  approval_pending: 'This is other hardware than before; somebody has to approve it.',
  busy: 'It cannot be taken just now; try again in a moment.',
}

/**
 * Judges heartbeats in the order of the wire protocol: form, known agent, key, signature, time, sequence, bounds. Those that may
 * count are stored together, one commit at a time, and answered after it.
 */
export function createHeartbeatEvaluator(runtime: Runtime, metrics: HeartbeatMetrics): (body: Uint8Array) => Promise<Verdict> {
  const known = rememberAgents(runtime)
  const interval = rememberIntervals(runtime)
  const store = batch((beats: SignedHeartbeat[]) => acceptHeartbeats(systemCtx(runtime), beats), PER_COMMIT)
  let waiting = 0

  return async (body) => {
    const read = parseHeartbeat(body)
    if ('code' in read) return read
    const { nodeId: name, signed, bootEpoch, sequence, time } = read
    let signer = findSigner(await known.find(name), read)
    if ('code' in signer) {
      const now = await known.findAgain(name)
      if (now) signer = findSigner(now, read)
    }
    if ('code' in signer) return signer
    if (waiting >= MOST_WAITING) return refused('busy', MESSAGES.busy)
    const bounds = Heartbeat.safeParse(read.heartbeat)
    metrics.queued.set(++waiting)
    const { tenantId, ...by } = signer
    const verdict = await store({ ...by, bootEpoch, sequence, time, heartbeat: bounds.data ?? null, signed }).finally(() =>
      metrics.queued.set(--waiting),
    )
    if (verdict === 'accepted') return { nextS: await interval(tenantId) }
    // Memory was behind: the key was revoked, or the name is another agent's now.
    if (verdict === 'signature_invalid' || verdict === 'node_not_registered') known.forget(name)
    if (verdict === 'invalid_request' && bounds.error) return shapeRejection(bounds.error, read.heartbeat)
    return refused(verdict, MESSAGES[verdict])
  }
}

/** Of the agents of that name the one whose key made the signature. */
function findSigner(
  agents: Known[],
  read: ParsedHeartbeat,
): Pick<SignedHeartbeat & Known, 'nodeId' | 'keyId' | 'tenantId'> | Rejection {
  const there = agents.filter(({ state }) => state !== 'DEREGISTERED')
  if (there.length === 0) return refused('node_not_registered', MESSAGES.node_not_registered)
  const here = there.filter(({ cluster }) => cluster === read.clusterId)
  if (here.length === 0) return refused('cluster_mismatch', `${read.nodeId} is registered in another cluster.`)
  // The first key of each before the second of any: the many keys of one tenant's agent keep nobody else's from its turn.
  const tries = here
    .flatMap(({ nodeId, tenantId, signers }) => signers.map((signer, turn) => ({ nodeId, tenantId, turn, ...signer })))
    .sort((a, b) => a.turn - b.turn)
  const signer = tries.slice(0, MOST_TRIES).find(({ key }) => verify(read.signed, read.signature, key))
  return signer
    ? { nodeId: signer.nodeId, tenantId: signer.tenantId, keyId: signer.id }
    : refused('signature_invalid', MESSAGES.signature_invalid)
}
