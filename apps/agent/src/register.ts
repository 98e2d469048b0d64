import type { RegisterRequest } from '@muster/protocol'
import { createProof, type Identity } from '@muster/protocol/agent'
import type { ApiClient } from './api-client.ts'
import type { Measurements } from './collect/index.ts'
import type { Config } from './config.ts'
import { reasonOf } from './deliver.ts'

export type RegistrationResult =
  | { accepted: true }
  | { accepted: false; code: string; message: string; retryAfterSeconds: number | null }

/** Registers this node with a proof that it holds its key. The token, if any, is sent in the body only. */
export async function register(
  api: ApiClient,
  config: Config,
  names: { nodeId: string; clusterId: string },
  identity: Identity,
  measurements: Measurements,
  version: string,
  token: string | undefined,
): Promise<RegistrationResult> {
  const request: RegisterRequest = {
    node_id: names.nodeId,
    cluster_id: names.clusterId,
    provider_address: config.providerAddress ?? '',
    agent_pubkey: identity.publicKey.base64,
    hostname: config.hostname,
    hardware_fingerprint: measurements.hardware_fingerprint ?? undefined,
    agent_version: version,
    region: config.region,
    datacenter: config.datacenter,
    capacity: measurements.capacity,
    health: measurements.health,
    enrollment_token: token,
  }
  const body = JSON.stringify({ ...request, proof: createProof(request, identity.privateKey, new Date()) })
  const result = await api('/agent/v1/nodes/register', body)
  if ('failure' in result) return { accepted: false, code: 'connection_failed', message: result.failure, retryAfterSeconds: null }
  // APIs for third-party agents respond to a registration with the HTTP status only.
  if (result.status === 200 && result.body.accepted !== false) return { accepted: true }
  const error = reasonOf(result.body)
  return {
    accepted: false,
    code: typeof error.code === 'string' ? error.code : `http_${result.status}`,
    message: typeof error.message === 'string' ? error.message : `The API responded with HTTP ${result.status}`,
    retryAfterSeconds: result.retryAfterSeconds,
  }
}
