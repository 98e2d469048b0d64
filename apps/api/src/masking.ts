import { DomainError } from '@muster/core/errors'
import type { Log } from '@muster/core/log'
import { isTransientDbError } from '@muster/core/retry-transient'
import { PothosValidationError } from '@pothos/core'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { createGraphQLError, handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { ApiContext } from './context.ts'
import { armorLimitError, LimitError } from './limits.ts'

/** Unwraps the original error from GraphQLError wrappers. */
function causeOf(error: unknown): unknown {
  let cause = error
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError
  return cause
}

/** Path of the invalid variable, for example `$input.limit`. GraphQL's own message repeats the value, which may be a secret. */
function variableOf(error: unknown, message: string): string | null {
  if (!(error instanceof GraphQLError) || !error.message.endsWith(`; ${message}`)) return null
  const prefix = error.message.slice(0, -message.length - 2)
  const path = / at "([^"]+)"$/.exec(prefix)?.[1] ?? /^Variable "\$(\w+)" got invalid value/.exec(prefix)?.[1]
  return path ? `$${path}` : null
}

/**
 * Converts an error that no result union lists. Caller errors keep their message; internal errors are logged and masked.
 * @param requestId the log has the full error under this ID
 */
export function maskError(error: unknown, log: Log, requestId: string): Error {
  const cause = armorLimitError(error) ?? causeOf(error)
  const location =
    error instanceof GraphQLError
      ? { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path }
      : {}
  const respond = (message: string, code: string, more = {}) =>
    createGraphQLError(message, { ...location, extensions: { code, ...more } })

  if (cause instanceof LimitError) return respond(cause.message, 'LIMIT_EXCEEDED', cause.extensions)
  if (cause instanceof DomainError) return respond(cause.message, cause.code, 'issues' in cause ? { issues: cause.issues } : {})
  // Malformed cursors, IDs and page arguments.
  if (cause instanceof PothosValidationError) return respond(cause.message, 'INVALID_INPUT')
  if (isTransientDbError(cause)) {
    log.warn({ err: cause, requestId }, 'the database is unavailable')
    return respond('The database is unavailable. Try again in a moment.', 'UNAVAILABLE')
  }
  // Syntax, validation and variables.
  if (cause instanceof GraphQLError) {
    const variable = variableOf(error, cause.message)
    if (variable) return respond(`${variable}: ${cause.message}`, 'INVALID_INPUT')
    return cause.extensions.code ? cause : respond(cause.message, 'INVALID_INPUT', cause.extensions)
  }
  log.error({ err: cause, requestId, path: location.path }, 'operation failed')
  return respond(`Internal error. Request ID: ${requestId}.`, 'INTERNAL')
}

/** Masks the errors of a result. Each masked error has the request ID under which the log has the full error. */
export function maskErrors(result: ExecutionResult, { deps, requestId }: ApiContext): ExecutionResult {
  if (!result.errors) return result
  return { ...result, errors: result.errors.map((error) => maskError(error, deps.runtime.log, requestId) as GraphQLError) }
}

/** Masks the errors of every operation. */
export function errorMasking(): Plugin<ApiContext> {
  const mask = (context: ApiContext) => (payload: { result: ExecutionResult; setResult(result: never): void }) => {
    if (payload.result.errors) payload.setResult(maskErrors(payload.result, context) as never)
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
