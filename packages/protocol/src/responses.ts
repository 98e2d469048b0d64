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

/** Response to a heartbeat. */
export const HeartbeatResponse = z.looseObject({
  accepted: z.boolean(),
  error: ResponseError.optional(),
  next_heartbeat_seconds: z.number().positive().optional(),
})
export type HeartbeatResponse = z.infer<typeof HeartbeatResponse>

/** Response to a registration. `approval_pending`: an operator must approve the key. */
export const RegisterResponse = z.looseObject({ accepted: z.boolean(), error: ResponseError.optional() })
export type RegisterResponse = z.infer<typeof RegisterResponse>
