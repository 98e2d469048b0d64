import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../api.ts'
import type { Caller } from '../sign-in/caller.ts'
import { admitRequest } from './admit-request.ts'
import type { Handler } from './handler.ts'
import { headersOf } from './request-facts.ts'

/** An event stream whose client reads nothing for this long is closed. */
const STALL_MS = 30_000

/** GraphQL over HTTP and server-sent events. Open event streams are kept in `streams`, so that a stopping server can end them. */
export function createGraphqlEndpoint(
  api: Api,
  {
    streams,
    isStopping,
    stallMs = STALL_MS,
  }: { streams: Set<ServerResponse>; isStopping: () => boolean; stallMs?: number | undefined },
): Handler {
  const { yoga, deps } = api
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
    await admitRequest(api, req, res)
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
