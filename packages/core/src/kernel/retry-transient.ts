import pRetry from 'p-retry'

// SQLSTATE: connection (08), serialization failure (40001), deadlock (40P01), insufficient resources (53), shutdown or startup (57P),
// read-only during a failover (25006).
const TRANSIENT_STATES = /^(08...|40001|40P01|53...|57P..|25006)$/
const TRANSIENT_CODES = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOENT ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN EMFILE'.split(' '),
)
// Errors of pg and its pool that have no code.
const TRANSIENT_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect)|is not queryable$/

/** Whether `error` rolled back this transaction because of a conflict with another one. */
export const isSerializationFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^40(001|P01)$/.test(String(error.code))

/** Whether `error` or one of its causes comes from a restart or loss of Postgres, so that a retry can succeed. */
export function isTransientDbError(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = 'code' in e ? String(e.code) : ''
    if (TRANSIENT_CODES.has(code) || TRANSIENT_STATES.test(code) || TRANSIENT_MESSAGES.test(e.message)) return true
  }
  return false
}

export type RetryOptions = {
  /** Total time for retries; below the 30 s after which a run counts as lost, so that two workers never execute the same run. */
  forMs?: number
  /** Pause before the first retry. */
  everyMs?: number
  /** Each pause is longer by this factor than the one before. */
  factor?: number
  /** Which errors may disappear; by default those of an unavailable database. */
  isTransient?: (error: unknown) => boolean
  /** Called before the pause of each retry, with the error and the number of the next attempt. */
  onRetry?: (error: Error, attempt: number) => Promise<void>
  /** Ends the retries and throws the last error. */
  signal?: AbortSignal
}

/**
 * Retries `work` while the database is unavailable, or after other transient errors. Any other error, such as wrong SQL or a
 * DomainError, is thrown immediately. `work` may have had its effect although its answer was lost, so it must tolerate being repeated.
 */
export async function retryTransient<T>(
  work: () => PromiseLike<T>,
  { forMs = 20_000, everyMs = 500, factor = 1, isTransient = isTransientDbError, onRetry, signal }: RetryOptions = {},
): Promise<T> {
  let lastError: unknown
  const attempt = async () => {
    try {
      return await work()
    } catch (error) {
      lastError = error
      throw error
    }
  }
  return pRetry(attempt, {
    retries: Number.POSITIVE_INFINITY,
    factor,
    minTimeout: everyMs,
    maxRetryTime: forMs,
    async shouldRetry({ error, attemptNumber }) {
      if (!isTransient(error)) return false
      await onRetry?.(error, attemptNumber + 1)
      return true
    },
    ...(signal ? { signal } : {}),
  }).catch((error) => {
    throw lastError ?? error
  })
}
