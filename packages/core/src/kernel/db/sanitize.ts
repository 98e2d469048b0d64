/**
 * Removes NUL and lone surrogates from a node's data. Postgres rejects both, and a node that sends them must not lose its
 * discovery.
 */
export function sanitizeForPostgres<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').toWellFormed() as T
  if (value instanceof Date) return value
  if (Array.isArray(value)) return value.map(sanitizeForPostgres) as T
  if (value !== null && typeof value === 'object' && !(value instanceof Date))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [sanitizeForPostgres(key), sanitizeForPostgres(inner)]),
    ) as T
  return value
}

const INT4_MAX = 2 ** 31 - 1
/** A count that fits an integer column; null when it is larger. */
export const int4 = (n: number | null): number | null => (n !== null && n <= INT4_MAX ? n : null)
