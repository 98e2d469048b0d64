import type { IncomingMessage } from 'node:http'
import getRawBody from 'raw-body'
import { MAX_BODY_BYTES } from '../limits.ts'

export type BodyRejection = { status: number; code: string; message: string }

const rejections = new WeakMap<IncomingMessage, BodyRejection>()

/** Why the body of a request could not be read; undefined when it was. */
export const bodyRejection = (req: IncomingMessage): BodyRejection | undefined => rejections.get(req)

/**
 * Sets `req.body` for Yoga: an object, or the text when it is not a JSON object. Yoga itself limits the size by piping the body
 * through streams, which takes a sixth of the CPU time of a small operation.
 */
export async function readBody(req: IncomingMessage & { body?: unknown }): Promise<void> {
  const length = req.headers['content-length']
  try {
    const text = await getRawBody(req, { encoding: 'utf8', limit: MAX_BODY_BYTES, ...(length ? { length } : {}) })
    req.body = parsed(text) ?? (text || ' ')
  } catch (error) {
    const isTooLarge = (error as getRawBody.RawBodyError).type === 'entity.too.large'
    const message = isTooLarge
      ? `At most ${MAX_BODY_BYTES} bytes are allowed in a request.`
      : 'The request ended before its body was complete.'
    rejections.set(
      req,
      isTooLarge ? { status: 413, code: 'REQUEST_ENTITY_TOO_LARGE', message } : { status: 400, code: 'BAD_REQUEST', message },
    )
    req.body = ' '
    // A client that is still sending receives the response only when its data is read.
    req.resume()
  }
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
