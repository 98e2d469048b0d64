import { z } from 'zod'
import { Capacity, ClusterId, Health, NodeId } from './heartbeat.ts'

const name = z.string().max(255).nullish()

/**
 * What an agent says once, before its first heartbeat. Field agents send it unsigned and without a token: that lets nobody in whose key
 * is not allowed already. Ours proves with `proof` that it holds the key, so that nobody can enrol the key of somebody else.
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
  enrolment_token: z.string().max(256).nullish(),
  proof: z.looseObject({ signature: z.string().max(128), timestamp: z.number().int() }).nullish(),
})
export type RegisterRequest = z.infer<typeof RegisterRequest>
