import type { IncomingMessage } from 'node:http'
import { getOperationAST, type OperationDefinitionNode } from 'graphql'
import { createGraphQLError, handleStreamOrSingleExecutionResult, isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { ApiContext, ApiDeps } from './context.ts'
import { type BodyRejection, bodyRejection, markLimited } from './http/graphql-body.ts'
import { foreignOriginReason, type RequestFacts, requestFacts } from './http/request-facts.ts'
import { isLimitError } from './limits.ts'
import type { Metrics } from './metrics.ts'

const facts = new WeakMap<Request, RequestFacts>()

/** The facts of an HTTP request, computed once. */
export function factsOf(request: Request): RequestFacts {
  const known = facts.get(request) ?? requestFacts(request.headers, true)
  facts.set(request, known)
  return known
}

const landingPage = (publicUrl: string) => `Muster GraphQL API

Send operations by POST as application/json with the header "Authorization: Bearer TOKEN".
Create a token:  ${new URL('/settings/tokens', publicUrl).href}
Schema:          ${new URL('/graphql/schema.graphql', publicUrl).href}
Guide:           docs/integrate.md in the source code
Console:         ${new URL('/', publicUrl).href}
With npm run dev this page is GraphiQL.
`

const SSE_NEEDED = 'A subscription needs the header `Accept: text/event-stream`, or a WebSocket.'

/** Rejects requests of other sites that carry the user's cookie, and sets the request ID and cookies of each response. */
export function httpRules({ publicUrl, isDevelopment }: ApiDeps, metrics: Metrics): Plugin {
  const reject = ({ status, message, extensions }: BodyRejection) => {
    metrics.rejected.inc({ code: extensions.code })
    return Response.json({ errors: [{ message, extensions }] }, { status })
  }
  return {
    onRequest({ request, endResponse, serverContext }) {
      const { requestId } = factsOf(request)
      if (!/^[\w.:-]+$/.test(requestId)) return
      const foreign = foreignOriginReason(request.headers, publicUrl)
      if (foreign) return endResponse(reject({ status: 403, message: foreign, extensions: { code: 'FORBIDDEN' } }))
      const { req } = serverContext as { req?: IncomingMessage }
      const rejection = req && bodyRejection(req)
      if (rejection) return endResponse(reject(rejection))
      // A browser opens the address. In development it gets GraphiQL.
      const isBrowser = request.method === 'GET' && request.headers.get('accept')?.includes('text/html')
      if (isBrowser && !isDevelopment && !new URL(request.url).searchParams.has('query'))
        return endResponse(new Response(landingPage(publicUrl), { headers: { 'content-type': 'text/plain; charset=utf-8' } }))
      // HTML forms of other sites can send every other content type without a CORS preflight.
      const type = request.headers.get('content-type') ?? ''
      if (request.method === 'POST' && !/^application\/(json|graphql-response\+json|graphql\+json)\b/.test(type))
        endResponse(
          reject({ status: 415, message: 'Send operations as application/json.', extensions: { code: 'INVALID_INPUT' } }),
        )
    },
    onResultProcess({ result, serverContext }) {
      const { req } = serverContext as { req?: IncomingMessage }
      const errors = (!isAsyncIterable(result) && !Array.isArray(result) && result.errors) || []
      if (req && errors.some(isLimitError)) markLimited(req)
    },
    onResponse({ request, response }) {
      const { requestId, responseHeaders } = factsOf(request)
      response.headers.set('x-request-id', requestId)
      for (const cookie of responseHeaders?.getSetCookie() ?? []) response.headers.append('set-cookie', cookie)
    },
  }
}

/** Logs one line per operation: caller, name, duration. Variables are never logged: they hold passwords and keys. */
export function operationLog({ runtime }: ApiDeps, metrics: Metrics): Plugin<ApiContext> {
  // These fields contain no secrets, and redaction takes longer than writing the line.
  const log = runtime.log.child({}, { redact: [] })
  const startTimer = (context: ApiContext, operation: OperationDefinitionNode | null | undefined) => {
    const start = performance.now()
    const type = operation?.operation ?? 'query'
    return (outcome: 'ok' | 'error') => {
      const ms = performance.now() - start
      metrics.operations.observe({ type, outcome }, ms / 1000)
      const { requestId, caller } = context
      log.info(
        { requestId, type, operation: operation?.name?.value, ms: Math.round(ms * 10) / 10, user: caller?.actor.name, outcome },
        'operation',
      )
    }
  }
  return {
    onExecute({ args }) {
      const done = startTimer(args.contextValue, getOperationAST(args.document, args.operationName))
      return {
        onExecuteDone: (payload) =>
          handleStreamOrSingleExecutionResult(payload, ({ result }) => done(result.errors?.length ? 'error' : 'ok')),
      }
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { headers, responseHeaders } = args.contextValue
      // Only these streams end with the access of their caller. `responseHeaders` is null for WebSockets.
      if (responseHeaders && !headers.get('accept')?.includes('text/event-stream'))
        return void setResultAndStopExecution({
          errors: [createGraphQLError(SSE_NEEDED, { extensions: { code: 'INVALID_INPUT' } })],
        })
      const done = startTimer(args.contextValue, getOperationAST(args.document, args.operationName))
      return {
        onSubscribeResult({ result }) {
          if (!isAsyncIterable(result)) return void done('error')
          metrics.subscriptions.inc()
          return {
            onEnd() {
              metrics.subscriptions.dec()
              done('ok')
            },
          }
        },
      }
    },
  }
}
