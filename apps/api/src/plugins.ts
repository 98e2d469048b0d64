import { Unauthenticated } from '@muster/core/errors'
import { getOperationAST, Kind, type OperationDefinitionNode } from 'graphql'
import { handleStreamOrSingleExecutionResult, isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { ApiContext, ApiDeps, RequestFacts } from './context.ts'
import type { Metrics } from './metrics.ts'
import { requestFacts, whyNotFromOrigin } from './request-facts.ts'

const facts = new WeakMap<Request, RequestFacts>()

/** The facts of an HTTP request, the same ones each time they are asked for. */
export function factsOf(request: Request): RequestFacts {
  const known = facts.get(request) ?? requestFacts(request.headers, true)
  facts.set(request, known)
  return known
}

const whatThisIs = (publicUrl: string) => `This is the GraphQL API of Muster, for programs.

Send operations here by POST as application/json, with the header  authorization: Bearer TOKEN
Make a token:    ${new URL('/settings/tokens', publicUrl).href}
For people:      ${new URL('/', publicUrl).href}
All it can do:   apps/api/schema.graphql in Muster's sources; docs/integrate.md shows how, by example.
In development (npm run dev) this page is GraphiQL.
`

/** Turn away what another site's page sends with the user's cookie, and give each answer its request id and cookies. */
export function httpRules({ publicUrl, isDevelopment }: ApiDeps, metrics: Metrics): Plugin {
  const refuse = (status: number, code: string, message: string) => {
    metrics.refused.inc({ why: code })
    return Response.json({ errors: [{ message, extensions: { code } }] }, { status })
  }
  return {
    onRequest({ request, endResponse }) {
      const { requestId } = factsOf(request)
      if (!/^[\w.:-]+$/.test(requestId)) return
      const foreign = whyNotFromOrigin(request.headers, publicUrl)
      if (foreign) return endResponse(refuse(403, 'FORBIDDEN', foreign))
      // Someone opened the address in a browser. In development GraphiQL is there for that.
      const isOpened = request.method === 'GET' && request.headers.get('accept')?.includes('text/html')
      if (isOpened && !isDevelopment && !new URL(request.url).searchParams.has('query'))
        return endResponse(new Response(whatThisIs(publicUrl), { headers: { 'content-type': 'text/plain; charset=utf-8' } }))
      // A form of another site can send these types without the browser asking first, JSON it cannot.
      const type = request.headers.get('content-type') ?? ''
      if (request.method === 'POST' && !/^application\/(json|graphql-response\+json|graphql\+json)\b/.test(type))
        endResponse(refuse(415, 'INVALID_INPUT', 'Send operations as application/json.'))
    },
    onResponse({ request, response }) {
      const { requestId, responseHeaders } = factsOf(request)
      response.headers.set('x-request-id', requestId)
      for (const cookie of responseHeaders?.getSetCookie() ?? []) response.headers.append('set-cookie', cookie)
    },
  }
}

/** One line per operation: who, what, how long. Never variables: they hold passwords and keys. */
export function operationLog(metrics: Metrics): Plugin<ApiContext> {
  const watch = (context: ApiContext, operation: OperationDefinitionNode | null | undefined) => {
    const start = performance.now()
    const type = operation?.operation ?? 'query'
    return (outcome: 'ok' | 'error') => {
      const ms = performance.now() - start
      metrics.operations.observe({ type, outcome }, ms / 1000)
      const { requestId, caller, deps } = context
      deps.runtime.log.info(
        { requestId, type, operation: operation?.name?.value, ms: Math.round(ms * 10) / 10, user: caller?.actor.name, outcome },
        'operation',
      )
    }
  }
  return {
    onExecute({ args }) {
      const done = watch(args.contextValue, getOperationAST(args.document, args.operationName))
      return {
        onExecuteDone: (payload) =>
          handleStreamOrSingleExecutionResult(payload, ({ result }) => done(result.errors?.length ? 'error' : 'ok')),
      }
    },
    onSubscribe({ args }) {
      const done = watch(args.contextValue, getOperationAST(args.document, args.operationName))
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

/** Only who is signed in may ask what there is; in development everybody. */
export function introspectionForMembers(): Plugin<ApiContext> {
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { caller, deps } = args.contextValue
      if (caller || deps.isDevelopment) return
      const operation = getOperationAST(args.document, args.operationName)
      const asks = operation?.selectionSet.selections.some(
        (field) => field.kind !== Kind.FIELD || field.name.value === '__schema' || field.name.value === '__type',
      )
      if (asks) {
        const { message, code } = new Unauthenticated('Sign in to read the schema.')
        setResultAndStopExecution({ errors: [Object.assign(new Error(message), { extensions: { code } }) as never] })
      }
    },
  }
}
