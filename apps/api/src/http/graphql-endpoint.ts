import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../api.ts'
import { MAX_ANONYMOUS_BODY_BYTES, MAX_BODY_BYTES } from '../limits.ts'
import { callerKey } from '../sign-in/caller.ts'
import { readBody, rejectLargeBody } from './graphql-body.ts'
import type { Handler } from './handler.ts'
import { headersOf } from './request-facts.ts'

/** An event stream whose client reads nothing for this long is closed. */
const STALL_MS = 30_000

/** GraphQL over HTTP and server-sent events. Open event streams are kept in `streams`, so that a stopping server can end them. */
export function createGraphqlEndpoint(
  { yoga, deps, largeBodies }: Api,
  {
    streams,
    isStopping,
    stallMs = STALL_MS,
  }: { streams: Set<ServerResponse>; isStopping: () => boolean; stallMs?: number | undefined },
): Handler {
  const signedIn = { limit: MAX_BODY_BYTES, nextStep: 'Split the request.' }
  const anonymous = { limit: MAX_ANONYMOUS_BODY_BYTES, nextStep: 'Sign in to send larger requests.' }
  /** A body that is not announced as small is read only after the caller is known. Null: the caller sends too many of them. */
  async function bodyLimit(req: IncomingMessage, res: ServerResponse) {
    if (Number(req.headers['content-length']) <= MAX_ANONYMOUS_BODY_BYTES) return anonymous
    const caller = await deps.auth.findCaller(headersOf(req)).catch(() => null)
    if (!caller) return anonymous
    const release = largeBodies.take(callerKey(caller, ''))
    if (!release) return null
    res.once('close', release)
    return signedIn
  }
  return async (req, res) => {
    if (isStopping()) res.setHeader('connection', 'close')
    if (req.headers.accept?.includes('text/event-stream')) {
      streams.add(res)
      destroyWhenStalled(res, stallMs)
      // The client reconnects, and is rejected or gets what its new role allows.
      const stopWatching = await deps.auth.watchCaller(headersOf(req), () => res.destroy())
      const closed = () => {
        streams.delete(res)
        stopWatching()
      }
      if (res.closed) closed()
      else res.once('close', closed)
    }
    // Other content types are rejected before their body is read.
    if (req.method === 'POST' && req.headers['content-type']?.includes('json')) {
      const limit = await bodyLimit(req, res)
      if (limit) await readBody(req, limit)
      else rejectLargeBody(req)
    }
    await yoga.handle(req, res)
  }
}

/** Yoga switches the timeouts of sockets off, so the progress is checked here. */
function destroyWhenStalled(res: ServerResponse, stallMs: number): void {
  let hasDrained = true
  res.on('drain', () => {
    hasDrained = true
  })
  const timer = setInterval(() => {
    if (res.writableNeedDrain && !hasDrained) res.destroy()
    hasDrained = false
  }, stallMs)
  res.once('close', () => clearInterval(timer))
}
