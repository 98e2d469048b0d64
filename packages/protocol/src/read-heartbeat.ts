import { z } from 'zod'
import type { AnswerCode } from './answers.ts'
import { AuthShape } from './heartbeat.ts'
import { MalformedBody, readBody } from './slice.ts'

/** What has to be there before anybody is looked for; the bounds of the rest are judged last. */
const Envelope = z.compile(
  z.object({
    heartbeat: z.object({
      node_id: z.string(),
      cluster_id: z.string(),
      sequence_number: z.int(),
      timestamp: z.iso.datetime({ offset: true }).max(40),
      boot_epoch: z.int().min(0).optional(),
    }),
    auth: AuthShape,
  }),
)

export type Refused = { code: AnswerCode; message: string }
export type ReadHeartbeat = {
  nodeId: string
  clusterId: string
  bootEpoch: number
  sequence: number
  /** The agent's time, in ms since 1970. */
  time: number
  signature: string
  /** The bytes that the signature covers. */
  signed: Uint8Array
  /** What they say, its bounds not looked at yet. */
  heartbeat: unknown
}

/** The body of a heartbeat, or why it is none. */
export function readHeartbeat(body: Uint8Array): ReadHeartbeat | Refused {
  try {
    const { value, members } = readBody(body)
    const parsed = Envelope.safeParse(value)
    if (!parsed.success) return refusedShape(parsed.error, value)
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
    if (error instanceof MalformedBody) return { code: error.code, message: error.message }
    throw error
  }
}

/** What is missing is told apart from what is wrong. @param value what was looked at */
export function refusedShape({ issues }: z.ZodError, value: unknown): Refused {
  const { path, message } = issues[0]!
  let found = value
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key]
  if (found === undefined && path.length > 0) return { code: 'missing_fields', message: `\`${path.join('.')}\` is missing.` }
  return { code: 'invalid_request', message: `\`${path.join('.') || 'body'}\`: ${message}.` }
}
