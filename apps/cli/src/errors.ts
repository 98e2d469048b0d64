/** What `muster` exits with; scripts may rely on these. The states of a run start at 10. */
export const EXIT = {
  ok: 0,
  /** Something went wrong that none of the others names. */
  failed: 1,
  /** Wrong options or arguments. */
  usage: 2,
  /** Not signed in, or the role does not allow it. */
  notAllowed: 3,
  notFound: 4,
  /** The server refused the input, or the object is in the wrong state. */
  refused: 5,
  /** The server cannot be reached. */
  unavailable: 6,
  /** Ctrl-C while following. */
  interrupted: 130,
  PARTIAL: 10,
  FAILED: 11,
  CANCELED: 12,
  TIMED_OUT: 13,
  ERROR: 14,
} as const

/** An error whose message is for the person at the terminal. */
export class CliError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

export class NotSignedIn extends CliError {
  constructor(message: string) {
    super(message, EXIT.notAllowed)
  }
}

const EXIT_BY_CODE: Record<string, number> = {
  UNAUTHENTICATED: EXIT.notAllowed,
  FORBIDDEN: EXIT.notAllowed,
  NOT_FOUND: EXIT.notFound,
  INVALID_INPUT: EXIT.refused,
  CONFLICT: EXIT.refused,
  UNAVAILABLE: EXIT.unavailable,
}

type Failure = { code: string; message: string; issues?: { path: string; message: string }[] }

/** The error that the API returned, with its exit code and one line per wrong field. */
export function errorFrom(failure: Failure): CliError {
  const lines = failure.issues?.map(({ path, message }) => {
    const field = path.replace(/^(\d+|input|filter)\./, '')
    return field ? `${field}: ${message}` : message
  }) ?? [failure.message]
  return new CliError(lines.join('\n'), EXIT_BY_CODE[failure.code] ?? EXIT.failed)
}

/** The success member of a mutation's result union, or a thrown CliError. */
export function orThrow<T extends { __typename: string }>(result: T): Exclude<T, { code: unknown }> {
  if ('code' in result && 'message' in result) throw errorFrom(result as unknown as Failure)
  return result as Exclude<T, { code: unknown }>
}
