import { z } from 'zod'
import { Capacity, ClusterId, Health, NodeId } from './heartbeat.ts'

const name = z.string().max(255).nullish()

/**
 * Registration, sent before the first heartbeat. Third-party agents send no token and no `proof`: their key must already be on the
 * allow-list. Our agent sends `proof` to show that it holds the key, so nobody can enroll another agent's key.
 */
export const RegisterRequest = z.looseObject({
  node_id: NodeId,
  cluster_id: ClusterId,
  provider_address: name,
  agent_pubkey: z.string().max(64),
  hostname: name,
  hardware_fingerprint: z.string().max(128).nullish(),
  agent_version: z.string().max(64).nullish(),
  region: name,
  datacenter: name,
  capacity: Capacity.nullish(),
  health: Health.nullish(),
  enrollment_token: z.string().max(256).nullish(),
  proof: z.looseObject({ signature: z.string().max(128), timestamp: z.number().int() }).nullish(),
})
export type RegisterRequest = z.infer<typeof RegisterRequest>
