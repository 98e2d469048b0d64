import type { RegisterRequest } from '@muster/protocol'
import { type Identity, prove } from '@muster/protocol/light'
import type { Api } from './api.ts'
import type { Measured } from './collect/index.ts'
import type { Config } from './config.ts'

export type Registered = { accepted: true } | { accepted: false; code: string; message: string; wait: number | null }

/** Tells the API who this node is, with the proof that it holds the key. The token, where there is one, is only ever in the body. */
export async function register(
  api: Api,
  config: Config,
  names: { nodeId: string; clusterId: string },
  identity: Identity,
  measured: Measured,
  version: string,
  token: string | undefined,
): Promise<Registered> {
  const request: RegisterRequest = {
    node_id: names.nodeId,
    cluster_id: names.clusterId,
    provider_address: config.providerAddress ?? '',
    agent_pubkey: identity.publicKey.base64,
    hostname: config.hostname,
    hardware_fingerprint: measured.hardware_fingerprint ?? undefined,
    agent_version: version,
    region: config.region,
    datacenter: config.datacenter,
    capacity: measured.capacity,
    health: measured.health,
    enrolment_token: token,
  }
  const body = JSON.stringify({ ...request, proof: prove(request, identity.privateKey, new Date()) })
  const reply = await api('/agent/v1/nodes/register', body)
  if ('failure' in reply) return { accepted: false, code: 'connection_failed', message: reply.failure, wait: null }
  // A field agent's API answers a registration with its status alone.
  if (reply.status === 200 && reply.body.accepted !== false) return { accepted: true }
  const error = Object(reply.body.error)
  const message = typeof error.message === 'string' ? error.message : `the API answered with HTTP ${reply.status}`
  return {
    accepted: false,
    code: typeof error.code === 'string' ? error.code : `http_${reply.status}`,
    message,
    wait: reply.retryAfter,
  }
}
