import type { AnyRelations, EmptyRelations } from 'drizzle-orm'
import { drizzle, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgAsyncDatabase } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { prepareRepeated } from './prepare-repeated.ts'

/**
 * Drizzle takes a connection for a transaction and says `begin` before it makes sure that the connection is given back: one
 * that ends right there would keep its place in the pool for ever. Here a place is free when its connection has ended.
 */
class Pool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(done: Parameters<pg.Pool['connect']>[0]): void
  override connect(done?: Parameters<pg.Pool['connect']>[0]) {
    return done ? super.connect(done) : super.connect().then(givenBackWhenItEnds)
  }
}

function givenBackWhenItEnds(client: pg.PoolClient): pg.PoolClient {
  const release = client.release
  const giveBack = (destroy?: boolean | Error) => {
    client.off('end', onEnd)
    client.release = () => {}
    release(destroy)
  }
  const onEnd = () => giveBack(true)
  client.once('end', onEnd)
  client.release = giveBack
  return client
}

/** Connections are replaced from time to time, with the statements that they have prepared. */
const MAX_LIFETIME_SECONDS = 1800

/** A connection pool or a transaction: what queries need. */
export type Db<R extends AnyRelations = EmptyRelations> = PgAsyncDatabase<NodePgQueryResultHKT, R>
/** The pool itself: also for prepared statements and single connections. */
export type PoolDb<R extends AnyRelations = EmptyRelations> = Db<R> & { $client: pg.Pool }
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/**
 * Connects to Postgres (>= 15). `close()` waits for queries under way.
 * @param url postgres://user:password@host:port/database
 * @param relations those of the registry, for a process that uses relational queries
 */
export function connectDb<R extends AnyRelations = EmptyRelations>(
  url: string,
  options: { max?: number; name?: string; relations?: R } = {},
) {
  const pool = new Pool({
    connectionString: url,
    max: options.max ?? 10,
    application_name: options.name ?? 'muster',
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
  })
  // An idle connection that the server ended: the pool drops it and the next query opens another.
  pool.on('error', () => {})
  // Without a listener, a connection that ends between two statements would end the process. The next statement fails anyway.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    prepareRepeated(client)
  })
  const db = drizzle<R, pg.Pool>({ client: pool, relations: options.relations as R })
  return { db, pool, close: () => pool.end() }
}
