import { randomUUID } from 'node:crypto'
import { EnvelopArmorPlugin } from '@escape.tech/graphql-armor'
import type { Log } from '@muster/core/log'
import { createYoga, type YogaInitialContext } from 'graphql-yoga'
import { callerConcurrency } from './concurrency.ts'
import { type ApiContext, type ApiDeps, createContext, type HttpContext, type SocketContext } from './context.ts'
import { messageCodes } from './graphql/shared/message-codes.ts'
import { eventStream } from './http/event-stream.ts'
import { createPacer } from './http/pacing.ts'
import { requestFacts } from './http/request-facts.ts'
import { MAX_ALIASES, MAX_DEPTH, MAX_LARGE_BODIES, MAX_READS, MAX_TOKENS } from './limits.ts'
import { errorMasking, maskError } from './masking.ts'
import { createMetrics } from './metrics.ts'
import { factsOf, httpRules, operationLog } from './plugins.ts'
import { schema } from './schema.ts'
import { sharedLogs } from './shared-logs.ts'
import { createSlots } from './slots.ts'

export type Api = ReturnType<typeof createApi>
/** Creates the GraphQL API. `yoga.fetch(request)` handles GraphQL over HTTP; http/server.ts adds the other routes and WebSockets. */
export function createApi(deps: ApiDeps) {
  const metrics = createMetrics(deps.runtime.db)
  const yoga = createYoga<Partial<SocketContext> & HttpContext, ApiContext>({
    schema,
    graphqlEndpoint: '/graphql',
    cors: deps.corsOrigins?.length
      ? { origin: deps.corsOrigins, credentials: false, methods: ['GET', 'POST'], exposedHeaders: ['x-request-id'] }
      : false,
    landingPage: false,
    graphiql: deps.isDevelopment ? { title: 'Muster', subscriptionsProtocol: 'WS' } : false,
    healthCheckEndpoint: '/-/yoga',
    multipart: false,
    // The HTTP server limits the size.
    maxRequestBodySize: false,
    logging: yogaLog(deps.runtime.log),
    // Masks errors before a context exists. The plugin masks all others with their request ID.
    maskedErrors: { maskError: (error) => maskError(error, deps.runtime.log, randomUUID()) },
    async context(initial: YogaInitialContext & Partial<SocketContext> & HttpContext) {
      const facts = initial.socketHeaders ? requestFacts(initial.socketHeaders, false) : factsOf(initial.request)
      return createContext(deps, facts, await deps.auth.findCaller(facts.headers), initial)
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
      operationLog(deps, metrics),
      callerConcurrency(),
      errorMasking(),
      messageCodes(),
      sharedLogs(),
      eventStream(),
    ],
  })
  return {
    yoga,
    schema,
    metrics,
    deps,
    reads: createSlots(MAX_READS),
    largeBodies: createSlots(MAX_LARGE_BODIES),
    pacer: createPacer(),
  }
}

// Yoga repeats errors that are already logged with their request ID, so its messages are logged at debug level.
const yogaLog = (log: Log) => {
  const debug = (...parts: unknown[]) => log.debug({ from: 'yoga' }, parts.map(String).join(' '))
  return { debug, info: debug, warn: debug, error: debug }
}
