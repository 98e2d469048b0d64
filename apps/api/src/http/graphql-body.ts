import type { IncomingMessage } from 'node:http'
import getRawBody from 'raw-body'
import { LimitError } from '../limits.ts'

export type BodyRejection = { status: number; message: string; extensions: { code: string } & Record<string, unknown> }

const rejections = new WeakMap<IncomingMessage, BodyRejection>()
const limited = new WeakSet<IncomingMessage>()

/** Remembers that a request exceeds a limit. */
export const markLimited = (req: IncomingMessage): void => void limited.add(req)
export const isLimited = (req: IncomingMessage): boolean => limited.has(req)

/** Why the body of a request could not be read; undefined when it was. */
export const bodyRejection = (req: IncomingMessage): BodyRejection | undefined => rejections.get(req)

/**
 * Sets `req.body` for Yoga: an object, or the text when it is not a JSON object. Yoga itself limits the size by piping the body
 * through streams, which takes a sixth of the CPU time of a small operation.
 * @param limit in bytes
 * @param nextStep of a caller whose body is larger
 */
export async function readBody(
  req: IncomingMessage & { body?: unknown },
  { limit, nextStep }: { limit: number; nextStep: string },
): Promise<void> {
  const length = req.headers['content-length']
  try {
    const text = await getRawBody(req, { encoding: 'utf8', limit, ...(length ? { length } : {}) })
    req.body = parsed(text) ?? (text || ' ')
  } catch (error) {
    const { type, received } = error as getRawBody.RawBodyError
    if (type === 'entity.too.large') {
      const { message, extensions } = new LimitError('BODY', limit, length ? Number(length) : (received ?? null), nextStep)
      markLimited(req)
      rejections.set(req, { status: 413, message, extensions: extensions as BodyRejection['extensions'] })
    } else {
      const message = 'The request ended before its body was complete.'
      rejections.set(req, { status: 400, message, extensions: { code: 'BAD_REQUEST' } })
    }
    req.body = ' '
    // A client that is still sending receives the response only when its data is read.
    req.resume()
  }
}

/** Answers with `error` in place of reading the body. */
export function rejectBody(req: IncomingMessage & { body?: unknown }, { message, extensions }: LimitError): void {
  rejections.set(req, { status: 429, message, extensions: extensions as BodyRejection['extensions'] })
  req.body = ' '
  req.resume()
}

/** The JSON object in `text`; null when it is none or is empty, which Yoga reports. */
function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? value : null
  } catch {
    return null
  }
}
