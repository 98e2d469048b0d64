import {
  Conflict,
  type DomainError,
  ERROR_CODES,
  Forbidden,
  InvalidInput,
  NotFound,
  Unauthenticated,
  Unavailable,
} from '@muster/core/errors'
import { builder } from '../../builder.ts'

const WHEN = {
  NOT_FOUND: 'The object does not exist, or not for the caller.',
  FORBIDDEN: 'The role of the caller does not allow it.',
  CONFLICT: 'The object is not in a state that allows it, or somebody was faster.',
  INVALID_INPUT: 'The input is wrong; its issues name the fields.',
  UNAVAILABLE: 'Something is away for now; trying again later can help.',
  UNAUTHENTICATED: 'Nobody is signed in, or the session or token is over.',
} satisfies Record<(typeof ERROR_CODES)[number], string>

const ErrorCode = builder.enumType('ErrorCode', {
  description: 'Kinds of errors, for programs.',
  values: Object.fromEntries(ERROR_CODES.map((code) => [code, { description: WHEN[code] }])) as Record<
    (typeof ERROR_CODES)[number],
    { description: string }
  >,
})

const ErrorInterface = builder.interfaceRef<DomainError>('Error').implement({
  description: 'Why something was not done, written for the person who asked: what it is about, its state, and the next step.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'Shown as it is.' }),
    code: t.expose('code', { type: ErrorCode, description: 'The kind of the error.' }),
  }),
})

for (const [type, name, code] of [
  [NotFound, 'NotFoundError', 'NOT_FOUND'],
  [Forbidden, 'ForbiddenError', 'FORBIDDEN'],
  [Conflict, 'ConflictError', 'CONFLICT'],
  [Unavailable, 'UnavailableError', 'UNAVAILABLE'],
  [Unauthenticated, 'UnauthenticatedError', 'UNAUTHENTICATED'],
] as const)
  builder.objectType(type, { name, description: WHEN[code], interfaces: [ErrorInterface] })

export const InputIssueType = builder.objectRef<{ path: string; message: string }>('InputIssue').implement({
  description: 'What is wrong with one field of an input.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: "Dotted from the input's root, for example `nodes.3.host`; empty when it is about the whole.",
    }),
    message: t.exposeString('message', { description: 'What is wrong, and what is allowed.' }),
  }),
})

builder.objectType(InvalidInput, {
  name: 'InvalidInputError',
  description: WHEN.INVALID_INPUT,
  interfaces: [ErrorInterface],
  fields: (t) => ({ issues: t.expose('issues', { type: [InputIssueType], description: 'One per wrong field.' }) }),
})

/** Errors that every mutation for signed-in callers can answer with. */
export const COMMON = [Unauthenticated, Forbidden, InvalidInput] as const
