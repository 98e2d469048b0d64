import { randomUUID } from 'node:crypto'
import { EnvelopArmorPlugin } from '@escape.tech/graphql-armor'
import type { Log } from '@muster/core/log'
import { createYoga, type YogaInitialContext } from 'graphql-yoga'
import { type ApiContext, type ApiDeps, createContext, type SocketContext } from './context.ts'
import { eventStream } from './http/event-stream.ts'
import { requestFacts } from './http/request-facts.ts'
import { MAX_ALIASES, MAX_DEPTH, MAX_TOKENS } from './limits.ts'
import { maskError, maskedResults } from './masking.ts'
import { createMetrics } from './metrics.ts'
import { factsOf, httpRules, operationLog } from './plugins.ts'
import { schema } from './schema.ts'
import { sharedLogs } from './shared-logs.ts'

export type Api = ReturnType<typeof createApi>
/** The GraphQL API over `deps`. `yoga.fetch(request)` answers; an HTTP server adds WebSockets and health. */
export function createApi(deps: ApiDeps) {
  const metrics = createMetrics(deps.runtime.db)
  const yoga = createYoga<Partial<SocketContext>, ApiContext>({
    schema,
    graphqlEndpoint: '/graphql',
    cors: deps.corsOrigins?.length
      ? { origin: deps.corsOrigins, credentials: false, methods: ['GET', 'POST'], exposedHeaders: ['x-request-id'] }
      : false,
    landingPage: false,
    graphiql: deps.isDevelopment ? { title: 'Muster', subscriptionsProtocol: 'WS' } : false,
    healthCheckEndpoint: '/-/yoga',
    multipart: false,
    logging: yogaLog(deps.runtime.log),
    // What fails before there is a context; the rest is masked by the plugin, which knows the request id.
    maskedErrors: { maskError: (error) => maskError(error, deps.runtime.log, randomUUID()) },
    async context(initial: YogaInitialContext & Partial<SocketContext>) {
      const facts = initial.socketHeaders ? requestFacts(initial.socketHeaders, false) : factsOf(initial.request)
      return createContext(deps, facts, await deps.auth.findCaller(facts.headers))
    },
    plugins: [
      httpRules(deps, metrics),
      EnvelopArmorPlugin({
        costLimit: { enabled: false },
        blockFieldSuggestion: { enabled: false },
        maxDepth: { n: MAX_DEPTH, ignoreIntrospection: true },
        maxAliases: { n: MAX_ALIASES },
        maxTokens: { n: MAX_TOKENS },
      }),
      operationLog(metrics),
      maskedResults(),
      sharedLogs(),
      eventStream(),
    ],
  })
  return { yoga, schema, metrics, deps }
}

// Yoga writes errors that we have logged already, with the request id; here they would stand without it.
const yogaLog = (log: Log) => {
  const debug = (...words: unknown[]) => log.debug({ from: 'yoga' }, words.map(String).join(' '))
  return { debug, info: debug, warn: debug, error: debug }
}
