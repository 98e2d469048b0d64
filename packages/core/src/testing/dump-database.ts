import pg from 'pg'

/** Every row of every table as text, the queue included. `url` is that of the owner. */
export async function dumpDatabase(url: string): Promise<{ table: string; rows: string[] }[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ table: string }>(
      `select format('%I.%I', schemaname, tablename) as table from pg_tables where schemaname in ('public', 'pgboss', 'drizzle')`,
    )
    const dump = []
    for (const { table } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${table} t`)
      dump.push({ table, rows: rows.map(({ text }) => text) })
    }
    return dump
  } finally {
    await client.end()
  }
}
