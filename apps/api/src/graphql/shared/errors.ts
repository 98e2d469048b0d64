import {
  Conflict,
  type DomainError,
  type ErrorCode as DomainErrorCode,
  Forbidden,
  InvalidInput,
  NotFound,
  SecondFactorRequired,
  StepUpRequired,
  Unauthenticated,
  Unavailable,
} from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { same } from './enum-values.ts'

const CODES = {
  NOT_FOUND: 'The object does not exist, or is not visible to the caller.',
  FORBIDDEN: 'The role of the caller does not allow the operation.',
  CONFLICT: 'The state of the object does not allow the operation, or the object changed at the same time.',
  INVALID_INPUT: 'The input, a variable or an argument is invalid.',
  UNAVAILABLE: 'A required service is unavailable. Try again later.',
  STEP_UP_REQUIRED:
    'The last proof of identity of the session is older than the tenant allows for this. Call `confirmIdentity`, then repeat the mutation. API tokens never get it.',
  SECOND_FACTOR_REQUIRED: 'The password is right. Continue with `verifySecondFactor`.',
  UNAUTHENTICATED: 'The caller is not signed in, or the session or API token is no longer valid.',
} satisfies Record<DomainErrorCode, string>

const ErrorCode = builder.enumType('ErrorCode', {
  description: 'Kind of an error: `code` of error types, and `extensions.code` of errors outside mutation results.',
  values: same({
    ...CODES,
    LIMIT_EXCEEDED: 'The operation exceeds a limit. `extensions` has `limit`, `maximum` and `actual`.',
    GRAPHQL_PARSE_FAILED: 'The document is not valid GraphQL syntax.',
    GRAPHQL_VALIDATION_FAILED: 'The document does not match the schema.',
    OPERATION_RESOLUTION_FAILURE: 'The document does not contain the requested operation, or the HTTP method does not allow it.',
    BAD_REQUEST: 'The HTTP request is malformed.',
    INTERNAL: 'An internal error. The message contains the request ID, which identifies the details in the log.',
  }),
})

const ErrorInterface = builder.interfaceRef<DomainError>('Error').implement({
  description: 'Why a mutation was not performed.',
  fields: (t) => ({
    message: t.exposeString('message', {
      description: 'Message for the user, in English: the object, its state and the next step.',
    }),
    code: t.expose('code', { type: ErrorCode, description: 'Kind of the error.' }),
  }),
})

for (const [type, name, code] of [
  [NotFound, 'NotFoundError', 'NOT_FOUND'],
  [Forbidden, 'ForbiddenError', 'FORBIDDEN'],
  [Conflict, 'ConflictError', 'CONFLICT'],
  [Unavailable, 'UnavailableError', 'UNAVAILABLE'],
  [Unauthenticated, 'UnauthenticatedError', 'UNAUTHENTICATED'],
  [StepUpRequired, 'StepUpRequiredError', 'STEP_UP_REQUIRED'],
] as const)
  builder.objectType(type, { name, description: CODES[code], interfaces: [ErrorInterface] })

export const InputIssueType = builder.objectRef<{ path: string; message: string }>('InputIssue').implement({
  description: 'A problem with one field of an input.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: 'Path of the field in the input, for example `nodes.3.host`; empty for the input as a whole.',
    }),
    message: t.exposeString('message', { description: 'The problem, and which values are allowed.' }),
  }),
})

builder.objectType(InvalidInput, {
  name: 'InvalidInputError',
  description: CODES.INVALID_INPUT,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    issues: t.expose('issues', { type: [InputIssueType], description: 'One issue per problem, at most one per field and rule.' }),
  }),
})

builder.objectType(SecondFactorRequired, {
  name: 'SecondFactorRequiredError',
  description: CODES.SECOND_FACTOR_REQUIRED,
  interfaces: [ErrorInterface],
  fields: (t) => ({
    challenge: t.exposeString('challenge', {
      description: 'Value for `verifySecondFactor`, valid for ten minutes and five codes.',
    }),
  }),
})

/** Errors that every mutation for authenticated callers can return. */
export const COMMON = [Unauthenticated, Forbidden, InvalidInput, StepUpRequired] as const
