import { z } from 'zod'
import { MalformedBodyError, parseBody } from './body.ts'
import { AuthSchema } from './heartbeat.ts'
import type { RejectionCode } from './responses.ts'

/** Minimum required to look up the agent. The full schema is validated after the signature. */
const Envelope = z.compile(
  z.object({
    heartbeat: z.object({
      node_id: z.string(),
      cluster_id: z.string(),
      sequence_number: z.int(),
      timestamp: z.iso.datetime({ offset: true }).max(40),
      boot_epoch: z.int().min(0).nullish(),
    }),
    auth: AuthSchema,
  }),
)

export type Rejection = { code: RejectionCode; message: string }
export type ParsedHeartbeat = {
  nodeId: string
  clusterId: string
  bootEpoch: number
  sequence: number
  /** Time of sending by the agent's clock, in ms since the Unix epoch. */
  time: number
  signature: string
  /** The bytes that the signature covers. */
  signed: Uint8Array
  /** Decoded heartbeat, not yet validated against the full schema. */
  heartbeat: unknown
}

/** Parses a heartbeat body; returns a rejection when it is malformed. */
export function parseHeartbeat(body: Uint8Array): ParsedHeartbeat | Rejection {
  try {
    const { value, members } = parseBody(body)
    const parsed = Envelope.safeParse(value)
    if (!parsed.success) return shapeRejection(parsed.error, value)
    const { heartbeat, auth } = parsed.data
    return {
      nodeId: heartbeat.node_id,
      clusterId: heartbeat.cluster_id,
      bootEpoch: heartbeat.boot_epoch ?? 0,
      sequence: heartbeat.sequence_number,
      time: Date.parse(heartbeat.timestamp),
      signature: auth.signature,
      signed: members.get('heartbeat')!,
      heartbeat: value.heartbeat,
    }
  } catch (error) {
    if (error instanceof MalformedBodyError) return { code: error.code, message: error.message }
    throw error
  }
}

/** Converts the first schema issue to a rejection: `missing_fields` or `invalid_request`. @param value the validated value */
export function shapeRejection({ issues }: z.ZodError, value: unknown): Rejection {
  const { path, message } = issues[0]!
  let found = value
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key]
  if (found === undefined && path.length > 0) return { code: 'missing_fields', message: `\`${path.join('.')}\` is missing.` }
  return { code: 'invalid_request', message: `\`${path.join('.') || 'body'}\`: ${message}.` }
}
