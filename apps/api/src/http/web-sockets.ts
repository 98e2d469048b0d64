import type { Server } from 'node:http'
import type { ExecutionArgs, GraphQLError } from 'graphql'
import { CloseCode } from 'graphql-ws'
import { useServer } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Api } from '../api.ts'
import { LimitError, MAX_SUBSCRIPTIONS } from '../limits.ts'
import { maskError } from '../masking.ts'
import { foreignOriginReason, headersOf, requestFacts } from './request-facts.ts'

const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_BUFFERED_BYTES = 64 * 1024
const KEEP_ALIVE_MS = 12_000
/** WebSocket close code "service restart": clients of graphql-ws connect again and repeat their subscriptions. */
const ACCESS_CHANGED = 1012

/** Accepts WebSockets at /graphql of `server`, with the protocol graphql-transport-ws. */
export function attachWebSockets(server: Server, { yoga, deps, metrics }: Api): { close(): Promise<void> } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES })
  server.on('upgrade', (req, socket, head) => {
    // Without an error listener, a socket error would crash the process.
    socket.on('error', () => socket.destroy())
    const isGraphql = (req.url ?? '').split('?', 1)[0] === '/graphql'
    if (!isGraphql || foreignOriginReason(headersOf(req), deps.publicUrl)) {
      metrics.rejected.inc({ code: 'WEBSOCKET' })
      socket.end(`HTTP/1.1 ${isGraphql ? '403 Forbidden' : '404 Not Found'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(req, socket, head, (client) => sockets.emit('connection', client, req))
  })
  const mask = (error: unknown, headers: Headers) =>
    maskError(error, deps.runtime.log, requestFacts(headers, false).requestId) as GraphQLError
  const disposable = useServer(
    {
      execute: (args) => (args as Enveloped).rootValue.execute(args),
      subscribe: (args) => (args as Enveloped).rootValue.subscribe(args),
      /**
       * Rejects an invalid token at once. Without a token the cookie authenticates, and each operation checks it again. A revoked
       * session or token closes the socket for good; after a change of role or tenant, clients connect again by themselves.
       */
      async onConnect({ connectionParams, extra }) {
        const headers = headersOf(extra.request)
        const authorization = authorizationOf(connectionParams)
        if (authorization !== null) headers.set('authorization', authorization)
        if (authorization !== null && !(await deps.auth.findCaller(new Headers({ authorization })))) {
          metrics.rejected.inc({ code: 'WEBSOCKET' })
          extra.socket.close(CloseCode.Unauthorized, 'The token is invalid, expired or revoked.')
          return false
        }
        const stopWatching = await deps.auth.watchCaller(headers, (loss) => {
          if (loss === 'revoked') extra.socket.close(CloseCode.Unauthorized, 'The session or API token is no longer valid.')
          else extra.socket.close(ACCESS_CHANGED, 'The role or tenant of the caller changed. Connect again.')
        })
        if (extra.socket.readyState >= extra.socket.CLOSING) stopWatching()
        else extra.socket.once('close', stopWatching)
        return true
      },
      async onSubscribe(context, id, params) {
        const open = Object.keys(context.subscriptions).length
        if (open > MAX_SUBSCRIPTIONS)
          return [
            new LimitError('SUBSCRIPTIONS', MAX_SUBSCRIPTIONS, open, 'Open another connection, or complete subscriptions first.'),
          ]
        const socketHeaders = headersOf(context.extra.request)
        // Browsers cannot set headers on a WebSocket; programs send their token with connection_init.
        const authorization = authorizationOf(context.connectionParams)
        if (authorization !== null) socketHeaders.set('authorization', authorization)
        const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
          socketHeaders,
          sendNext: nextSender(context.extra.socket, id),
        })
        try {
          const document = parse(params.query)
          const errors = validate(schema, document)
          if (errors.length > 0) return errors.map((error: unknown) => mask(error, socketHeaders)) as GraphQLError[]
          return {
            schema,
            document,
            operationName: params.operationName,
            variableValues: params.variables,
            contextValue: await contextFactory(),
            rootValue: { execute, subscribe },
          }
        } catch (error) {
          return [mask(error, socketHeaders)]
        }
      },
    },
    sockets,
    KEEP_ALIVE_MS,
  )
  return { close: async () => void (await disposable.dispose()) }
}

type Enveloped = ExecutionArgs & {
  rootValue: Record<'execute' | 'subscribe', (args: ExecutionArgs) => never>
}

/** `authorization` (case-insensitive) in the connection_init payload or in its `headers`, where Apollo and other clients put it. */
function authorizationOf(params: Readonly<Record<string, unknown>> | undefined): string | null {
  const find = (object: object) => Object.entries(object).find(([name]) => name.toLowerCase() === 'authorization')?.[1]
  const headers = params?.headers
  const found = find(params ?? {}) ?? (typeof headers === 'object' && headers ? find(headers) : undefined)
  return typeof found === 'string' ? found : null
}

/** Sends JSON results of the operation `id` as `next` messages. Resolves when the socket buffer has room for more. */
export function nextSender(socket: WebSocket, id: string) {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  return (result: string): Promise<void> | void => {
    if (socket.readyState !== socket.OPEN) return
    const message = `${head}${result}}`
    if (socket.bufferedAmount < MAX_BUFFERED_BYTES) return socket.send(message)
    return new Promise((resolve) => socket.send(message, () => resolve()))
  }
}
