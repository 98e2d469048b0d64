import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { relations } from './relations.ts'

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

/**
 * Connect to Postgres (>= 15). `close()` waits for queries under way.
 * @param url postgres://user:password@host:port/database
 */
export function connectDb(url: string, options: { max?: number; name?: string } = {}) {
  const pool = new Pool({ connectionString: url, max: options.max ?? 10, application_name: options.name ?? 'muster' })
  // An idle connection that the server ended: the pool drops it and the next query opens another.
  pool.on('error', () => {})
  // One that ends between two statements of a transaction: the next statement fails. Unheard, it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = drizzle({ client: pool, relations })
  return { db, pool, close: () => pool.end() }
}
export type Db = ReturnType<typeof connectDb>['db']
