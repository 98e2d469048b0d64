import { DomainError } from '@muster/core/errors'
import type { Log } from '@muster/core/log'
import { isDatabaseAway } from '@muster/core/patiently'
import { PothosValidationError } from '@pothos/core'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { createGraphQLError, handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { ApiContext } from './context.ts'
import { LimitError } from './limits.ts'

/** The error behind wrappers that GraphQL puts around it. */
function causeOf(error: unknown): unknown {
  let cause = error
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError
  return cause
}

/** Where in the variables `message` belongs: `$input.limit`. What GraphQL says around it repeats the value, which may be a secret. */
function variableOf(error: unknown, message: string): string | null {
  if (!(error instanceof GraphQLError) || !error.message.endsWith(`; ${message}`)) return null
  const around = error.message.slice(0, -message.length - 2)
  const place = / at "([^"]+)"$/.exec(around)?.[1] ?? /^Variable "\$(\w+)" got invalid value/.exec(around)?.[1]
  return place ? `$${place}` : null
}

/**
 * What a caller is told of an error that no union lists: what the caller did wrong, as it is; a bug, only that there was one.
 * @param requestId under which the whole of it stands in the log
 */
export function maskError(error: unknown, log: Log, requestId: string): Error {
  const cause = causeOf(error)
  const place =
    error instanceof GraphQLError
      ? { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path }
      : {}
  const tell = (message: string, code: string, more = {}) =>
    createGraphQLError(message, { ...place, extensions: { code, ...more } })

  if (cause instanceof LimitError) return tell(cause.message, 'LIMIT_EXCEEDED')
  if (cause instanceof DomainError) return tell(cause.message, cause.code, 'issues' in cause ? { issues: cause.issues } : {})
  // Cursors, ids and page arguments that cannot be read.
  if (cause instanceof PothosValidationError) return tell(cause.message, 'INVALID_INPUT')
  if (isDatabaseAway(cause)) {
    log.warn({ err: cause, requestId }, 'the database is away')
    return tell('The database cannot be reached at the moment; try again shortly.', 'UNAVAILABLE')
  }
  // GraphQL's own: syntax, validation, variables.
  if (cause instanceof GraphQLError) {
    const variable = variableOf(error, cause.message)
    return variable ? tell(`${variable}: ${cause.message}`, 'INVALID_INPUT') : cause
  }
  log.error({ err: cause, requestId, path: place.path }, 'an operation failed')
  return tell(`Something went wrong here; request id ${requestId}.`, 'INTERNAL')
}

/** What an operation answers with, masked, so that each masked error names the request id under which it is logged. */
export function masked(result: ExecutionResult, { deps, requestId }: ApiContext): ExecutionResult {
  if (!result.errors) return result
  return { ...result, errors: result.errors.map((error) => maskError(error, deps.runtime.log, requestId) as GraphQLError) }
}

/** Masks what every operation answers with. */
export function maskedResults(): Plugin<ApiContext> {
  const mask = (context: ApiContext) => (payload: { result: ExecutionResult; setResult(result: never): void }) => {
    if (payload.result.errors) payload.setResult(masked(payload.result, context) as never)
  }
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: (payload) => handleStreamOrSingleExecutionResult(payload, mask(args.contextValue) as never),
    }),
    onSubscribe: ({ args }) => ({
      onSubscribeResult: (payload) => handleStreamOrSingleExecutionResult(payload as never, mask(args.contextValue) as never),
      onSubscribeError: ({ error, setError }) =>
        setError(maskError(error, args.contextValue.deps.runtime.log, args.contextValue.requestId)),
    }),
  }
}
