import type { ServerResponse } from 'node:http'
import type { Api } from '../api.ts'
import { readBody } from './graphql-body.ts'
import type { Handler } from './handler.ts'
import { headersOf, PEER } from './request-facts.ts'

/** GraphQL over HTTP and server-sent events. Open event streams are kept in `streams`, so that a stopping server can end them. */
export function createGraphqlEndpoint(
  { yoga, deps }: Api,
  { streams, isStopping }: { streams: Set<ServerResponse>; isStopping: () => boolean },
): Handler {
  return async (req, res) => {
    if (isStopping()) res.setHeader('connection', 'close')
    // Overwrites what the client sent.
    req.headers[PEER] = req.socket.remoteAddress ?? ''
    if (req.headers.accept?.includes('text/event-stream')) {
      streams.add(res)
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
    if (req.method === 'POST' && req.headers['content-type']?.includes('json')) await readBody(req)
    await yoga.handle(req, res)
  }
}
