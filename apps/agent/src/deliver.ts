import type { Heartbeat } from '@muster/protocol'
import { encodeHeartbeat, envelope, goTime, type Identity, sign } from '@muster/protocol/light'
import type { Api, Reply } from './api.ts'

/**
 * What is to be done with a beat after a try: it is through, it can never get through, it is to be tried again, or the node has to be
 * registered first.
 */
export type Outcome = {
  done: 'accepted' | 'refused' | 'later' | 'unknown_node'
  code: string
  message: string
  wait: number | null
  next: number | null
}

/** Milliseconds after which a beat is said to be late. */
const LATE = 5000

/** Who sends a beat. */
type Sender = Pick<Heartbeat, 'node_id' | 'cluster_id' | 'agent_version' | 'hardware_fingerprint'>

/**
 * Signs and sends one beat. `timestamp` is the time of this try, since the API takes only what is fresh; a beat that waited says in
 * `measured_at` when it was measured. It is sent in the name and from the hardware that hold now: with those that it was measured
 * under, a node that was renamed or repaired meanwhile would be refused.
 */
export async function deliver(api: Api, json: string, sender: Sender, identity: Identity, now = new Date()): Promise<Outcome> {
  const { measured_at, ...measured } = JSON.parse(json) as Heartbeat
  const isLate = now.getTime() - Date.parse(measured_at ?? '') > LATE
  const beat: Heartbeat = { ...measured, ...sender, timestamp: goTime(now), ...(isLate ? { measured_at } : {}) }
  const bytes = encodeHeartbeat(beat)
  const body = envelope(bytes, sign(bytes, identity.privateKey, now))
  const headers = { 'x-node-id': beat.node_id, 'x-cluster-id': beat.cluster_id }
  return outcome(await api(`/agent/v1/nodes/${encodeURIComponent(beat.node_id)}/heartbeat`, body, headers))
}

/** Beats that are wrong in themselves would hold up all behind them; everything else may be mended by time or by a person. */
export function outcome(reply: Reply): Outcome {
  if ('failure' in reply) return { done: 'later', code: 'connection_failed', message: reply.failure, wait: null, next: null }
  const { status, body, retryAfter } = reply
  if (status === 200 && body.accepted === true) {
    const said = body.next_heartbeat_seconds
    const next = typeof said === 'number' && said > 0 ? Math.min(said, 3600) : null
    return { done: 'accepted', code: 'accepted', message: '', wait: null, next }
  }
  const error = Object(body.error)
  const code = typeof error.code === 'string' ? error.code : `http_${status}`
  const message = typeof error.message === 'string' ? error.message : `the API answered with HTTP ${status}`
  const isWrong = status === 400 || status === 413 || code === 'stale_sequence'
  const done = isWrong ? 'refused' : code === 'node_not_registered' ? 'unknown_node' : 'later'
  // An API that did not let the node in does not know either how often it is to beat.
  return { done, code, message, wait: retryAfter, next: null }
}

/** Waits grow from about a second to five minutes and are drawn by chance, so that nodes which lost the API together do not come back so. */
export function backoff(last: number, chance = Math.random()): number {
  return Math.min(300_000, 1000 + chance * (Math.max(last, 1000) * 3 - 1000))
}
