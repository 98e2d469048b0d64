import type { IncomingMessage, Server } from 'node:http'
import { type ExecutionArgs, GraphQLError } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { PEER, whyNotFromOrigin } from './request-facts.ts'
import type { Api } from './server.ts'

const MAX_MESSAGE = 1024 * 1024
const MAX_BUFFERED = 64 * 1024
const KEEP_ALIVE_MS = 12_000

/** Accept WebSockets at /graphql of `server`, in the protocol of graphql-ws. */
export function attachWebSockets(server: Server, { yoga, deps, metrics }: Api): { close(): Promise<void> } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE })
  server.on('upgrade', (req, socket, head) => {
    // Nobody else listens to this socket, and an error that nobody hears ends the process.
    socket.on('error', () => socket.destroy())
    const pathname = (req.url ?? '/').split('?', 1)[0]
    const refusal = pathname === '/graphql' ? whyNotFromOrigin(headersOf(req), deps.publicUrl) : 'not here'
    if (refusal) {
      metrics.refused.inc({ why: 'WEBSOCKET' })
      socket.end(
        `HTTP/1.1 ${pathname === '/graphql' ? '403 Forbidden' : '404 Not Found'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      )
      return
    }
    sockets.handleUpgrade(req, socket, head, (client) => sockets.emit('connection', client, req))
  })
  const disposable = useServer(
    {
      execute: (args) => (args as Enveloped).rootValue.execute(args),
      subscribe: (args) => (args as Enveloped).rootValue.subscribe(args),
      async onSubscribe(context, id, params) {
        const socketHeaders = headersOf(context.extra.request)
        // Browsers cannot set headers on a WebSocket; programs may give their token with the first message.
        const { authorization } = context.connectionParams ?? {}
        if (typeof authorization === 'string') socketHeaders.set('authorization', authorization)
        const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
          socketHeaders,
          sendNext: nextSender(context.extra.socket, id),
        })
        try {
          const document = parse(params.query)
          const errors = validate(schema, document)
          if (errors.length > 0) return errors as GraphQLError[]
          return {
            schema,
            document,
            operationName: params.operationName,
            variableValues: params.variables,
            contextValue: await contextFactory(),
            rootValue: { execute, subscribe },
          }
        } catch (error) {
          return [error instanceof GraphQLError ? error : new GraphQLError(String(error))]
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

/** Sends results of the operation `id` that are JSON already. A client that does not keep up is waited for. */
export function nextSender(socket: WebSocket, id: string) {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  return (result: string): Promise<void> | void => {
    if (socket.readyState !== socket.OPEN) return
    const message = `${head}${result}}`
    if (socket.bufferedAmount < MAX_BUFFERED) return socket.send(message)
    return new Promise((resolve) => socket.send(message, () => resolve()))
  }
}

function headersOf(req: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) if (typeof value === 'string') headers.set(name, value)
  headers.set(PEER, req.socket.remoteAddress ?? '')
  return headers
}
