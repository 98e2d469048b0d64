import type { AnyRelations, EmptyRelations } from 'drizzle-orm'
import { drizzle, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgAsyncDatabase } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { prepareRepeated } from './prepare-repeated.ts'
import { supportTenants } from './tenant-query.ts'

/**
 * Drizzle sends BEGIN before it ensures that the connection is released, so a connection lost there would occupy its pool slot
 * permanently. This pool frees the slot when the connection ends.
 */
class Pool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(done: Parameters<pg.Pool['connect']>[0]): void
  override connect(done?: Parameters<pg.Pool['connect']>[0]) {
    return done ? super.connect(done) : super.connect().then(releaseOnEnd)
  }
}

function releaseOnEnd(client: pg.PoolClient): pg.PoolClient {
  const release = client.release
  const releaseOnce = (destroy?: boolean | Error) => {
    client.off('end', onEnd)
    client.release = () => {}
    release(destroy)
  }
  const onEnd = () => releaseOnce(true)
  client.once('end', onEnd)
  client.release = releaseOnce
  return client
}

/** Maximum age of a connection, which also limits its prepared statements. */
const MAX_LIFETIME_SECONDS = 1800

/** A connection pool or a transaction: what queries need. */
export type Db<R extends AnyRelations = EmptyRelations> = PgAsyncDatabase<NodePgQueryResultHKT, R>
/** The pool: also provides prepared statements and single connections. */
export type PoolDb<R extends AnyRelations = EmptyRelations> = Db<R> & { $client: pg.Pool }
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** Opens a pool of connections; see `connectDb`. */
export function openPool(url: string, options: { max?: number; name?: string; statementTimeoutMs?: number } = {}): pg.Pool {
  const pool = new Pool({
    connectionString: url,
    max: options.max ?? 10,
    application_name: options.name ?? 'muster',
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    ...(options.statementTimeoutMs ? { statement_timeout: options.statementTimeoutMs } : {}),
  })
  // The server ended an idle connection. The pool removes it, and the next query opens another.
  pool.on('error', () => {})
  // Without a listener, a connection that ends between two statements would end the process. The next statement fails anyway.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    supportTenants(client)
    prepareRepeated(client)
  })
  return pool
}

/**
 * Connects to Postgres (>= 15). `close()` waits for queries in progress.
 * @param url postgres://user:password@host:port/database
 * @param relations those of the registry, for a process that uses relational queries
 */
export function connectDb<R extends AnyRelations = EmptyRelations>(
  url: string,
  options: { max?: number; name?: string; relations?: R; statementTimeoutMs?: number } = {},
) {
  const pool = openPool(url, options)
  const db = drizzle<R, pg.Pool>({ client: pool, relations: options.relations as R })
  return { db, pool, close: () => pool.end() }
}
