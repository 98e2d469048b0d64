import type { z } from 'zod'

export const ERROR_CODES = [
  'NOT_FOUND',
  'FORBIDDEN',
  'CONFLICT',
  'INVALID_INPUT',
  'UNAVAILABLE',
  'UNAUTHENTICATED',
  'SECOND_FACTOR_REQUIRED',
  'STEP_UP_REQUIRED',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * An error for users. Its message is shown unchanged: it names the object, its state and the next step, and contains no secret.
 * Any other error is a bug and is masked.
 */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode
  override get name() {
    return this.constructor.name
  }
}

/** The object does not exist in the caller's tenant. */
export class NotFound extends DomainError {
  readonly code = 'NOT_FOUND'
}
/** The caller's role does not allow it. */
export class Forbidden extends DomainError {
  readonly code = 'FORBIDDEN'
}
/** The request has no valid session or token. */
export class Unauthenticated extends DomainError {
  readonly code = 'UNAUTHENTICATED'
}
/** The password is right, and the user must also enter a code of an authenticator app. */
export class SecondFactorRequired extends DomainError {
  readonly code = 'SECOND_FACTOR_REQUIRED'
  /** Identifies this sign-in in the next step. */
  readonly challenge: string
  constructor(challenge: string) {
    super('Enter the code of your authenticator app, or a recovery code.')
    this.challenge = challenge
  }
}
/** The session's last proof of identity is too old for this operation. */
export class StepUpRequired extends DomainError {
  readonly code = 'STEP_UP_REQUIRED'
  constructor() {
    super(
      'Confirm your identity to continue: your last sign-in or confirmation is too old for this. Signing in again works, too.',
    )
  }
}
/** The object's state does not allow the operation, or a concurrent change won. */
export class Conflict extends DomainError {
  readonly code = 'CONFLICT'
}
/** A required service is temporarily unavailable; a retry can succeed. */
export class Unavailable extends DomainError {
  readonly code = 'UNAVAILABLE'
}

/** `path` is the dotted path of the field in the input (`nodes.3.host`); empty for the whole input. */
export type InputIssue = { path: string; message: string }

/** The input is invalid; each issue names its field. */
export class InvalidInput extends DomainError {
  readonly code = 'INVALID_INPUT'
  readonly issues: InputIssue[]
  constructor(issues: InputIssue[]) {
    super(issues.map((i) => (i.path ? `${i.path}: ${i.message}` : i.message)).join('; '))
    this.issues = issues
  }
}

/** Parses `input`. @throws InvalidInput with one issue per invalid field */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input, { error: readableMessage })
  if (parsed.success) return parsed.data
  throw new InvalidInput(parsed.error.issues.map((i) => ({ path: i.path.join('.'), message: i.message })))
}

const COUNTED: Record<string, string> = { string: ' characters', array: ' entries' }

/** Readable messages for zod's own checks; a message of the schema takes precedence. */
const readableMessage: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${COUNTED[issue.origin] ?? ''}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}${COUNTED[issue.origin] ?? ''}`
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is missing' : `must be a ${issue.expected}`
  if (issue.code === 'unrecognized_keys') return `has unknown fields: ${issue.keys.join(', ')}`
  return undefined
}
