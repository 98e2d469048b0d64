import { z } from 'zod'

/** Why a heartbeat or a registration was not accepted. Agents in the field know the first five. */
export const AnswerCode = z.enum([
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
export type AnswerCode = z.infer<typeof AnswerCode>

const AnswerError = z.looseObject({ code: z.string(), message: z.string() })

/** What the API answers to a heartbeat. */
export const Answer = z.looseObject({
  accepted: z.boolean(),
  error: AnswerError.optional(),
  next_heartbeat_seconds: z.number().positive().optional(),
})
export type Answer = z.infer<typeof Answer>

/** What the API answers to a registration: `approval_pending` means that a person has to allow the key. */
export const RegisterAnswer = z.looseObject({ accepted: z.boolean(), error: AnswerError.optional() })
export type RegisterAnswer = z.infer<typeof RegisterAnswer>
