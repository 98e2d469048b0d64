/** Exit codes of `muster`, stable for scripts. Those for the status of a run start at 10. */
export const EXIT = {
  ok: 0,
  /** Any other failure. */
  failed: 1,
  /** Invalid options or arguments. */
  usage: 2,
  /** Not signed in, or not permitted by the role. */
  notAllowed: 3,
  notFound: 4,
  /** Rejected by the server: invalid input, or the object is in the wrong state. */
  rejected: 5,
  /** The server is unreachable. */
  unavailable: 6,
  /** Ctrl-C while following. */
  interrupted: 130,
  PARTIAL: 10,
  FAILED: 11,
  CANCELED: 12,
  TIMED_OUT: 13,
  ERROR: 14,
} as const

/** An error with a message for the user. */
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
  INVALID_INPUT: EXIT.rejected,
  CONFLICT: EXIT.rejected,
  UNAVAILABLE: EXIT.unavailable,
}

type Failure = { code: string; message: string; issues?: { path: string; message: string }[] }

/** Converts an error of the API: its exit code, and one line per invalid field. */
export function errorFrom(failure: Failure): CliError {
  const lines = failure.issues?.map(({ path, message }) => {
    const field = path.replace(/^(\d+|input|filter)\./, '')
    return field ? `${field}: ${message}` : message
  }) ?? [failure.message]
  return new CliError(lines.join('\n'), EXIT_BY_CODE[failure.code] ?? EXIT.failed)
}

/** Returns the success member of a mutation's result union. @throws CliError for an error member */
export function orThrow<T extends { __typename: string }>(result: T): Exclude<T, { code: unknown }> {
  if ('code' in result && 'message' in result) throw errorFrom(result as unknown as Failure)
  return result as Exclude<T, { code: unknown }>
}
