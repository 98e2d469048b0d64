import type { IncomingMessage, ServerResponse } from 'node:http'
import getRawBody from 'raw-body'
import type { Api } from '../api.ts'
import { MAX_BODY_BYTES } from '../limits.ts'
import type { Handler } from './handler.ts'
import { PEER } from './request-facts.ts'

/** GraphQL over HTTP and server-sent events. Open event streams are kept in `streams`, so that a stopping server can end them. */
export function createGraphqlEndpoint(
  { yoga }: Api,
  { streams, isStopping }: { streams: Set<ServerResponse>; isStopping: () => boolean },
): Handler {
  return async (req, res) => {
    if (isStopping()) res.setHeader('connection', 'close')
    // Overwrites what the client sent.
    req.headers[PEER] = req.socket.remoteAddress ?? ''
    if (req.headers.accept?.includes('text/event-stream')) {
      streams.add(res)
      res.once('close', () => streams.delete(res))
    }
    // Yoga rejects other content types before it reads their body.
    if (req.method === 'POST' && req.headers['content-type']?.includes('json') && !(await readBody(req, res))) return
    await yoga.handle(req, res)
  }
}

/**
 * Sets `req.body` for Yoga: an object, or the text when it is not a JSON object. Yoga itself limits the size by piping the body
 * through streams, which takes a sixth of the CPU time of a small operation. Returns false when the request is answered.
 */
async function readBody(req: IncomingMessage & { body?: unknown }, res: ServerResponse): Promise<boolean> {
  const length = req.headers['content-length']
  let text: string
  try {
    text = await getRawBody(req, { encoding: 'utf8', limit: MAX_BODY_BYTES, ...(length ? { length } : {}) })
  } catch (error) {
    const isTooLarge = (error as getRawBody.RawBodyError).type === 'entity.too.large'
    if (isTooLarge) sendError(res, 413, 'REQUEST_ENTITY_TOO_LARGE', `At most ${MAX_BODY_BYTES} bytes are allowed in a request.`)
    else sendError(res, 400, 'BAD_REQUEST', 'The request ended before its body was complete.')
    return false
  }
  req.body = parsed(text) ?? (text || ' ')
  return true
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

function sendError(res: ServerResponse, status: number, code: string, message: string): void {
  if (res.destroyed) return
  res.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  res.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }))
}
