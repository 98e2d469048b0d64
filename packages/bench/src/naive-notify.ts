import pg from 'pg'

const LISTENERS = 100
const ROWS = 5000
const WRITERS = 8

/**
 * Write rate with a NOTIFY in the transaction of each row and 100 idle listeners, relative to the same writes without NOTIFY. Muster
 * instead sends batched notifications outside of the writing transactions.
 */
export async function naiveNotify(databaseUrl: string): Promise<number> {
  const clients: pg.Client[] = []
  const connect = async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    clients.push(client)
    return client
  }
  try {
    const writers: pg.Client[] = []
    for (let i = 0; i < WRITERS; i++) writers.push(await connect())
    await writers[0]!.query('create table naive_lines (n bigint generated always as identity, line text)')
    for (let i = 0; i < LISTENERS; i++) await (await connect()).query('listen naive_lines')
    const rate = async (sql: string) => {
      const began = performance.now()
      await Promise.all(
        writers.map(async (writer) => {
          for (let i = 0; i < ROWS / WRITERS; i++) await writer.query(sql, ['ok: [node1] => a line'])
        }),
      )
      return ROWS / (performance.now() - began)
    }
    const insert = 'insert into naive_lines (line) values ($1)'
    await rate(insert)
    const without = await rate(insert)
    return (await rate(`with row as (${insert} returning n) select pg_notify('naive_lines', n::text) from row`)) / without
  } finally {
    for (const client of clients) await client.end()
  }
}
