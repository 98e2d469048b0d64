import { setTimeout as sleep } from 'node:timers/promises'

// SQLSTATE classes: connection (08), conflict of transactions (40), out of resources (53), shut down or starting (57P), of
// what is read-only while it fails over (25006).
const AWAY_STATES = /^(08...|40001|40P01|53...|57P..|25006)$/
const AWAY_CODES = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOENT ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN EMFILE'.split(' '),
)
// What pg and its pool throw without a code.
const AWAY_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect)|is not queryable$/

/** Whether `error` is a conflict of two transactions of which this one was undone: nothing of it is stored. */
export const isSerializationFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^40(001|P01)$/.test(String(error.code))

/** Whether `error`, or what caused it, is what a restart or loss of Postgres looks like: trying again later can help. */
export function isTransientDbError(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = 'code' in e ? String(e.code) : ''
    if (AWAY_CODES.has(code) || AWAY_STATES.test(code) || AWAY_MESSAGES.test(e.message)) return true
  }
  return false
}

/**
 * Do `work`, and again while the database is away. Whatever else is thrown, such as wrong SQL or a DomainError, is thrown at
 * once. `work` may have been done although its answer was lost: it must bear being done twice.
 * @param forMs patience in milliseconds; by default less than the 30 s after which an untouched run is declared lost, so that
 *   no two workers have one
 * @param everyMs pause between tries, milliseconds
 * @param signal ends the patience: the last error is thrown
 */
export async function retryTransient<T>(
  work: () => PromiseLike<T>,
  { forMs = 20_000, everyMs = 500, signal }: { forMs?: number; everyMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const until = performance.now() + forMs
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!isTransientDbError(error) || signal?.aborted || performance.now() > until) throw error
      await sleep(everyMs, undefined, { signal }).catch(() => {})
      if (signal?.aborted) throw error
    }
}
