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

/**
 * Retries `work` while the database is unavailable. Any other error, such as wrong SQL or a DomainError, is thrown immediately.
 * `work` may have committed although its answer was lost, so it must tolerate being repeated.
 * @param forMs total time for retries in milliseconds; below the 30 s after which a run counts as lost, so that two workers never
 *   execute the same run
 * @param everyMs pause between attempts in milliseconds
 * @param signal ends the retries and throws the last error
 */
export async function retryTransient<T>(
  work: () => PromiseLike<T>,
  { forMs = 20_000, everyMs = 500, signal }: { forMs?: number; everyMs?: number; signal?: AbortSignal } = {},
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
    factor: 1,
    minTimeout: everyMs,
    maxRetryTime: forMs,
    shouldRetry: ({ error }) => isTransientDbError(error),
    ...(signal ? { signal } : {}),
  }).catch((error) => {
    throw lastError ?? error
  })
}
