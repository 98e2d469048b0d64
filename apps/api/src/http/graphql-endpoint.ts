import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../api.ts'
import { LimitError, MAX_ANONYMOUS_BODY_BYTES, MAX_BODY_BYTES, MAX_LARGE_BODIES } from '../limits.ts'
import { type Caller, callerKey } from '../sign-in/caller.ts'
import { isLimited, readBody, rejectBody } from './graphql-body.ts'
import type { Handler } from './handler.ts'
import { paceCaller, tooManyRejected } from './pacing.ts'
import { headersOf } from './request-facts.ts'

/** An event stream whose client reads nothing for this long is closed. */
const STALL_MS = 30_000
const LARGE_BODIES_STEP = 'Wait for responses before sending more large requests.'

/** GraphQL over HTTP and server-sent events. Open event streams are kept in `streams`, so that a stopping server can end them. */
export function createGraphqlEndpoint(
  api: Api,
  {
    streams,
    isStopping,
    stallMs = STALL_MS,
  }: { streams: Set<ServerResponse>; isStopping: () => boolean; stallMs?: number | undefined },
): Handler {
  const { yoga, deps, largeBodies } = api
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
  function openStream(req: IncomingMessage, res: ServerResponse, caller: Caller | null): void {
    if (isStopping() || res.closed) return void res.destroy()
    streams.add(res)
    destroyWhenStalled(res, stallMs)
    // The client reconnects, and is rejected or gets what its new role allows.
    const stopWatching = deps.auth.watchCaller(headersOf(req), caller, () => res.destroy())
    res.once('close', () => {
      streams.delete(res)
      stopWatching()
    })
  }
  return async (req, res) => {
    if (isStopping()) res.setHeader('connection', 'close')
    const charge = await paceCaller(api, headersOf(req))
    res.once('close', () => void (isLimited(req) && charge?.()))
    if (!charge) rejectBody(req, tooManyRejected())
    // Other content types are rejected before their body is read.
    else if (req.method === 'POST' && req.headers['content-type']?.includes('json')) {
      const limit = await bodyLimit(req, res)
      if (limit) await readBody(req, limit)
      else rejectBody(req, new LimitError('LARGE_BODIES', MAX_LARGE_BODIES, MAX_LARGE_BODIES + 1, LARGE_BODIES_STEP))
    }
    await yoga.handle(req, res, { openStream: (caller) => openStream(req, res, caller) })
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
