import type { Heartbeat } from '@muster/protocol'
import { encodeHeartbeat, envelope, formatGoTime, type Identity, sign } from '@muster/protocol/agent'
import type { ApiClient, ApiResult } from './api-client.ts'

export type DeliveryResult = {
  /** `rejected`: never accepted, drop it. `retry`: try again later. `unregistered`: register first, then try again. */
  outcome: 'accepted' | 'rejected' | 'retry' | 'unregistered'
  code: string
  message: string
  retryAfterSeconds: number | null
  /** Heartbeat interval of the tenant; null when the API did not send it. */
  intervalSeconds: number | null
}

/** Age from which a heartbeat carries `measured_at`. */
const LATE_MS = 5000

type Sender = Pick<Heartbeat, 'node_id' | 'cluster_id' | 'agent_version' | 'hardware_fingerprint'>

/**
 * Signs and sends one heartbeat. `timestamp` is the time of this attempt, because the API accepts recent timestamps only; a late
 * heartbeat also carries `measured_at`. The sender's current identity replaces the one at measurement: the API would reject the
 * heartbeats of a node that was renamed or repaired in between.
 */
export async function deliver(
  api: ApiClient,
  json: string,
  sender: Sender,
  identity: Identity,
  now = new Date(),
): Promise<DeliveryResult> {
  const { measured_at, ...measurements } = JSON.parse(json) as Heartbeat
  const isLate = now.getTime() - Date.parse(measured_at ?? '') > LATE_MS
  const heartbeat: Heartbeat = {
    ...measurements,
    ...sender,
    timestamp: formatGoTime(now),
    ...(isLate ? { measured_at } : {}),
  }
  const bytes = encodeHeartbeat(heartbeat)
  const body = envelope(bytes, sign(bytes, identity.privateKey, now))
  const headers = { 'x-node-id': heartbeat.node_id, 'x-cluster-id': heartbeat.cluster_id }
  return parseResult(await api(`/agent/v1/nodes/${encodeURIComponent(heartbeat.node_id)}/heartbeat`, body, headers))
}

/** Maps a response to a result. Only invalid heartbeats are dropped, because they block the queue; all other failures are retried. */
export function parseResult(result: ApiResult): DeliveryResult {
  if ('failure' in result)
    return {
      outcome: 'retry',
      code: 'connection_failed',
      message: result.failure,
      retryAfterSeconds: null,
      intervalSeconds: null,
    }
  const { status, body, retryAfterSeconds } = result
  if (status === 200 && body.accepted === true) {
    const interval = body.next_heartbeat_seconds
    const intervalSeconds = typeof interval === 'number' && interval > 0 ? Math.min(interval, 3600) : null
    return { outcome: 'accepted', code: 'accepted', message: '', retryAfterSeconds: null, intervalSeconds }
  }
  const error = reasonOf(body)
  const code = typeof error.code === 'string' ? error.code : `http_${status}`
  const message = typeof error.message === 'string' ? error.message : `The API responded with HTTP ${status}`
  const isInvalid = status === 400 || status === 413 || code === 'stale_sequence'
  const outcome = isInvalid ? 'rejected' : code === 'node_not_registered' ? 'unregistered' : 'retry'
  // Responses to rejected heartbeats do not know the tenant, and so not its interval.
  return { outcome, code, message, retryAfterSeconds, intervalSeconds: null }
}

/** The first reason of a rejection. APIs for agents of the field list them in `errors`. */
export const reasonOf = ({ errors, error }: Record<string, unknown>): { code?: unknown; message?: unknown } =>
  Object(Array.isArray(errors) ? errors[0] : error)

/**
 * Exponential backoff with jitter, from 1 s, so that nodes that lost the API together do not return together. With the interval of
 * heartbeats, the longest wait stays below the two minutes after which an agent is STALE.
 */
export function backoff(lastMs: number, random = Math.random()): number {
  return Math.min(60_000, 1000 + random * (Math.max(lastMs, 1000) * 3 - 1000))
}
