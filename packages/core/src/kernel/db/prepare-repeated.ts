import type { PoolClient, QueryConfig } from 'pg'

/** Maximum of prepared statements per connection; each costs the server about 100 kB until the connection ends. */
export const MAX_PREPARED = 100
/** A statement is prepared at this execution. */
const REPEATED = 3
/** Maximum of counted statements per connection; then the counts are reset. */
const MAX_COUNTED = 1000

/**
 * Prepares repeated SELECT statements of a connection. Otherwise the server parses and plans them for every request, which takes about
 * as long as their execution.
 */
export function prepareRepeated(client: PoolClient): void {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text)
    if (known || names.size >= MAX_PREPARED) return known
    const count = (counts.get(text) ?? 0) + 1
    if (count < REPEATED) {
      if (counts.size >= MAX_COUNTED) counts.clear()
      counts.set(text, count)
      return undefined
    }
    counts.delete(text)
    const name = `repeated_${names.size + 1}`
    names.set(text, name)
    return name
  }
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  client.query = ((config: unknown, ...rest: unknown[]) => {
    const name = isSelect(config) ? nameOf(config.text) : undefined
    return query(name ? { ...(config as QueryConfig), name } : config, ...rest)
  }) as PoolClient['query']
}

/** Whether it is an unnamed SELECT in a plain object, as Drizzle sends it. */
const isSelect = (config: unknown): config is QueryConfig =>
  Object.getPrototypeOf(config) === Object.prototype &&
  (config as QueryConfig).name === undefined &&
  /^\s*(select|with)\b/i.test((config as QueryConfig).text)
