import type { z } from 'zod'

export const ERROR_CODES = ['NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'INVALID_INPUT', 'UNAVAILABLE', 'UNAUTHENTICATED'] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * Something that the operator can understand and act on. Its message is shown as it is: it names the thing, its state
 * and the next step, and holds no secret. Anything thrown that is not a DomainError is a bug and is masked.
 */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode
  override get name() {
    return this.constructor.name
  }
}

/** The object does not exist, or not for this caller. */
export class NotFound extends DomainError {
  readonly code = 'NOT_FOUND'
}
/** The caller's role does not allow it. */
export class Forbidden extends DomainError {
  readonly code = 'FORBIDDEN'
}
/** Nobody is signed in, or the session or token is over. */
export class Unauthenticated extends DomainError {
  readonly code = 'UNAUTHENTICATED'
}
/** The object is not in a state that allows it, or somebody was faster. */
export class Conflict extends DomainError {
  readonly code = 'CONFLICT'
}
/** Something that we need is away for now; trying again later can help. */
export class Unavailable extends DomainError {
  readonly code = 'UNAVAILABLE'
}

/** `path` is dotted from the root of the input (`nodes.3.host`), empty when it is about the whole. */
export type InputIssue = { path: string; message: string }

/** The input is wrong; each issue names its field. */
export class InvalidInput extends DomainError {
  readonly code = 'INVALID_INPUT'
  readonly issues: InputIssue[]
  constructor(issues: InputIssue[]) {
    super(issues.map((i) => (i.path ? `${i.path}: ${i.message}` : i.message)).join('; '))
    this.issues = issues
  }
}

/** Parse `input` or throw InvalidInput with one issue per field. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input, { error: inPlainWords })
  if (parsed.success) return parsed.data
  throw new InvalidInput(parsed.error.issues.map((i) => ({ path: i.path.join('.'), message: i.message })))
}

const COUNTED: Record<string, string> = { string: ' characters', array: ' entries' }

/** What zod says by itself, for people; a schema's own message goes before it. */
const inPlainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${COUNTED[issue.origin] ?? ''}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}${COUNTED[issue.origin] ?? ''}`
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is missing' : `must be a ${issue.expected}`
  if (issue.code === 'unrecognized_keys') return `has nothing called ${issue.keys.join(', ')}`
  return undefined
}
