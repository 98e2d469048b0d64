import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { Forbidden } from '@muster/core/errors'
import { clientNetwork } from '@muster/core/networks'
import type { ExecutionArgs, GraphQLError } from 'graphql'
import { CloseCode } from 'graphql-ws'
import { useServer } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Api } from '../api.ts'
import { MESSAGE_CODES_HEADER } from '../graphql/shared/message-codes.ts'
import { isLimitError, LimitError, MAX_ANONYMOUS_SOCKETS, MAX_SUBSCRIPTIONS } from '../limits.ts'
import { maskError } from '../masking.ts'
import { TENANT_HEADER } from '../sign-in/choose-tenant.ts'
import { paceCaller, tooManyRejected } from './pacing.ts'
import { clientAddress, foreignOriginReason, headersOf, requestFacts } from './request-facts.ts'

const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_BUFFERED_BYTES = 64 * 1024
/** A socket with more unsent bytes is closed. Only replies to its own messages get that far: results wait for room. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024
const KEEP_ALIVE_MS = 12_000
/** WebSocket close code "service restart": clients of graphql-ws connect again and repeat their subscriptions. */
const ACCESS_CHANGED = 1012
const INIT_TIMEOUT_MS = 3000
const CLOSE_TIMEOUT_MS = 1000

/**
 * Accepts WebSockets at /graphql of `server`, with the protocol graphql-transport-ws. A client that does not send `connection_init` in
 * time is disconnected, as is one that does not answer a ping within `keepAliveMs` because it does not read.
 */
export function attachWebSockets(
  server: Server,
  api: Api,
  { initTimeoutMs = INIT_TIMEOUT_MS, keepAliveMs = KEEP_ALIVE_MS } = {},
): { close(): Promise<void> } {
  const { yoga, deps, metrics } = api
  /** Why the token in these headers is not accepted; null when it is. */
  async function rejectionOf(headers: Headers): Promise<{ code: CloseCode; reason: string } | null> {
    try {
      if (await deps.auth.findCaller(headers)) return null
      return { code: CloseCode.Unauthorized, reason: 'The token is invalid, expired or revoked.' }
    } catch (error) {
      if (!(error instanceof Forbidden)) throw error
      return { code: CloseCode.Forbidden, reason: 'The token does not give access to the named tenant.' }
    }
  }
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES })
  const anonymous = createSocketCounter(MAX_ANONYMOUS_SOCKETS)
  const findCaller = (headers: Headers) => deps.auth.findCaller(headers).catch(() => null)
  const reject = (socket: Duplex, status: string) => {
    metrics.rejected.inc({ code: 'WEBSOCKET' })
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  }
  server.on('upgrade', async (req, socket, head) => {
    // Without an error listener, a socket error would crash the process.
    socket.on('error', () => socket.destroy())
    const headers = headersOf(req)
    if ((req.url ?? '').split('?', 1)[0] !== '/graphql') return reject(socket, '404 Not Found')
    if (foreignOriginReason(headers, deps.publicUrl)) return reject(socket, '403 Forbidden')
    if (!(await findCaller(headers)) && !anonymous.add(clientAddress({ headers }), socket))
      return reject(socket, '429 Too Many Requests')
    sockets.handleUpgrade(req, socket, head, (client) => {
      for (const event of ['message', 'ping'] as const)
        client.on(event, () => client.bufferedAmount > MAX_UNSENT_BYTES && client.terminate())
      // After a message that is too large, ws would read and discard the rest of it.
      client.on('error', () => {
        setImmediate(() => socket.pause())
        setTimeout(() => client.terminate(), CLOSE_TIMEOUT_MS).unref()
      })
      sockets.emit('connection', client, req)
    })
  })
  const mask = (error: unknown, headers: Headers) =>
    maskError(error, deps.runtime.log, requestFacts(headers, false).requestId) as GraphQLError
  const disposable = useServer(
    {
      connectionInitWaitTimeout: initTimeoutMs,
      execute: (args) => (args as Enveloped).rootValue.execute(args),
      subscribe: (args) => (args as Enveloped).rootValue.subscribe(args),
      /**
       * Rejects an invalid token at once. Without a token the cookie authenticates, and each operation checks it again. A revoked
       * session or token closes the socket for good; after a change of role or tenant, clients connect again by themselves.
       */
      async onConnect({ connectionParams, extra }) {
        const headers = headersOf(extra.request)
        const authorization = setFromParams(headers, connectionParams)
        const rejection = authorization === null ? null : await rejectionOf(headers)
        if (rejection) {
          metrics.rejected.inc({ code: 'WEBSOCKET' })
          extra.socket.close(rejection.code, rejection.reason)
          return false
        }
        if (authorization !== null) anonymous.remove(extra.request.socket)
        const stopWatching = deps.auth.watchCaller(headers, await deps.auth.findCaller(headers), (loss) => {
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
        setFromParams(socketHeaders, context.connectionParams)
        const charge = await paceCaller(api, socketHeaders)
        if (!charge) return [tooManyRejected()]
        const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
          socketHeaders,
          sendNext: nextSender(context.extra.socket, id),
        })
        try {
          const document = parse(params.query)
          const errors = validate(schema, document)
          if (errors.length > 0) {
            const masked = errors.map((error: unknown) => mask(error, socketHeaders)) as GraphQLError[]
            if (masked.some(isLimitError)) await charge()
            return masked
          }
          return {
            schema,
            document,
            operationName: params.operationName,
            variableValues: params.variables,
            contextValue: await contextFactory(),
            rootValue: { execute, subscribe },
          }
        } catch (error) {
          const masked = mask(error, socketHeaders)
          if (isLimitError(masked)) await charge()
          return [masked]
        }
      },
    },
    sockets,
    keepAliveMs,
  )
  return { close: async () => void (await disposable.dispose()) }
}

type Enveloped = ExecutionArgs & {
  rootValue: Record<'execute' | 'subscribe', (args: ExecutionArgs) => never>
}

/** Sets the headers that a client sends with connection_init: its token, its tenant, and whether it wants codes of messages. @returns the token */
function setFromParams(headers: Headers, params: Readonly<Record<string, unknown>> | undefined): string | null {
  const nested = params?.headers
  const given = { ...params, ...(typeof nested === 'object' ? nested : {}) }
  const textOf = (wanted: string) => {
    const value = Object.entries(given).find(([name]) => name.toLowerCase() === wanted)?.[1]
    return typeof value === 'string' ? value : null
  }
  for (const name of ['authorization', TENANT_HEADER, MESSAGE_CODES_HEADER]) {
    const value = textOf(name)
    if (value !== null) headers.set(name, value)
  }
  return textOf('authorization')
}

/** Counts sockets per client network, up to `most`. A socket counts until it closes or is removed. */
function createSocketCounter(most: number) {
  const counts = new Map<string, number>()
  const networks = new Map<Duplex, string>()
  const remove = (socket: Duplex) => {
    const network = networks.get(socket)
    if (network === undefined) return
    networks.delete(socket)
    const count = counts.get(network)! - 1
    if (count > 0) counts.set(network, count)
    else counts.delete(network)
  }
  return {
    /** Returns whether the client may open another socket. */
    add(address: string, socket: Duplex): boolean {
      const network = clientNetwork(address)
      const count = counts.get(network) ?? 0
      if (count >= most) return false
      counts.set(network, count + 1)
      networks.set(socket, network)
      socket.once('close', () => remove(socket))
      return true
    },
    remove,
  }
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
