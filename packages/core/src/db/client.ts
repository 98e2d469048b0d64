import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { relations } from './relations.ts'

/**
 * Connect to Postgres (>= 15). `close()` waits for queries under way.
 * @param url postgres://user:password@host:port/database
 */
export function connectDb(url: string, options: { max?: number; name?: string } = {}) {
  const pool = new pg.Pool({ connectionString: url, max: options.max ?? 10, application_name: options.name ?? 'muster' })
  // An idle connection that the server ended: the pool drops it and the next query opens another.
  pool.on('error', () => {})
  // One that ends between two statements of a transaction: the next statement fails. Unheard, it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = drizzle({ client: pool, relations })
  return { db, pool, close: () => pool.end() }
}
export type Db = ReturnType<typeof connectDb>['db']
