/**
 * What came from a node, made fit for the database: Postgres takes neither NUL nor half a surrogate pair, in text or in JSON,
 * and one node that sends them must not lose its whole discovery.
 */
export function sanitizeForPostgres<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').toWellFormed() as T
  if (Array.isArray(value)) return value.map(sanitizeForPostgres) as T
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [sanitizeForPostgres(key), sanitizeForPostgres(inner)]),
    ) as T
  return value
}

const INT4_MAX = 2 ** 31 - 1
/** A count as an integer column takes it; null where no real machine could have so many. */
export const int4 = (n: number | null): number | null => (n !== null && n <= INT4_MAX ? n : null)
