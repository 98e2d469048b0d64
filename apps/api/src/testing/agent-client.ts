import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createEnrollmentToken } from '@muster/core/agents'
import type { Ctx } from '@muster/core/registry'
import { createProof, encodeHeartbeat, envelope, type Heartbeat, type HeartbeatResponse, sign } from '@muster/protocol'

export type Keys = { privateKey: KeyObject; publicKey: string }
export type Reply = HeartbeatResponse & { status: number; retryAfter: string | null }

export function makeKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64') }
}

let count = 0
export const newName = (): string => `node-${String(++count).padStart(4, '0')}`

export const aHeartbeat = (more: Partial<Heartbeat> & { node_id: string }): Heartbeat => ({
  cluster_id: 'lab',
  sequence_number: 1,
  timestamp: new Date().toISOString(),
  agent_version: '1.0.0',
  capacity: { cpu_cores_total: 64, cpu_cores_available: 32, memory_gb_total: 512, gpus_total: 8, gpus_available: 8 },
  health: { status: 'healthy', cpu_utilization_percent: 40, memory_utilization_percent: 50 },
  ...more,
})

/** Encodes and signs a heartbeat as an agent does. */
export function signedBody(heartbeat: Heartbeat, { privateKey }: Keys): Uint8Array<ArrayBuffer> {
  const bytes = encodeHeartbeat(heartbeat)
  return Buffer.from(envelope(bytes, sign(bytes, privateKey, new Date())))
}

/** Client for the agent endpoints of the API at `url`. */
export function agentClient(url: string, prefix = '/api/v1/hpc') {
  async function post(path: string, body: Uint8Array<ArrayBuffer> | string): Promise<Reply> {
    const response = await fetch(url + prefix + path, { method: 'POST', body })
    return {
      ...((await response.json()) as HeartbeatResponse),
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
    }
  }
  return {
    post,
    register: (request: object) => post('/nodes/register', JSON.stringify(request)),
    send: (body: Uint8Array<ArrayBuffer> | string, name = 'any') => post(`/nodes/${name}/heartbeat`, body),
    beat: (keys: Keys, heartbeat: Partial<Heartbeat> & { node_id: string }) =>
      post(`/nodes/${heartbeat.node_id}/heartbeat`, signedBody(aHeartbeat(heartbeat), keys)),
    /** Registers a new agent with its own enrollment token. */
    async enroll(ctx: Ctx, name = newName(), keys = makeKeys(), more: object = {}) {
      const { token } = await createEnrollmentToken(ctx, {})
      const request = { node_id: name, cluster_id: 'lab', agent_pubkey: keys.publicKey, enrollment_token: token, ...more }
      const answer = await this.register({ ...request, proof: createProof(request, keys.privateKey, new Date()) })
      return { name, keys, token, request, answer }
    },
  }
}
