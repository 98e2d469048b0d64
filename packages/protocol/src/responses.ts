import { z } from 'zod'

/** Reason code of a rejected heartbeat or registration. Third-party agents know the first five. */
export const RejectionCode = z.enum([
  'node_not_registered',
  'cluster_mismatch',
  'signature_invalid',
  'stale_sequence',
  'timestamp_out_of_range',
  // HTTP 400, 413 and 429
  'invalid_request',
  'missing_fields',
  'too_large',
  'busy',
  // registration
  'key_not_allowed',
  'token_invalid',
  'proof_invalid',
  'approval_pending',
])
export type RejectionCode = z.infer<typeof RejectionCode>

const ResponseError = z.looseObject({ code: z.string(), message: z.string() })

/** Reasons of a rejection. Agents of the field read `errors`; `error` is the same reason for older agents of ours. */
const reasons = { error: ResponseError.optional(), errors: z.array(ResponseError).optional() }

/** Response to a heartbeat. */
export const HeartbeatResponse = z.looseObject({
  accepted: z.boolean(),
  /** The accepted sequence number; 0 when the heartbeat is rejected. */
  sequence_ack: z.number().int().min(0).optional(),
  /** Time of the server, in RFC 3339. */
  timestamp: z.string().optional(),
  next_heartbeat_seconds: z.number().positive().optional(),
  ...reasons,
})
export type HeartbeatResponse = z.infer<typeof HeartbeatResponse>

/** Response to a registration. `approval_pending`: an operator must approve the key. */
export const RegisterResponse = z.looseObject({ accepted: z.boolean(), ...reasons })
export type RegisterResponse = z.infer<typeof RegisterResponse>
