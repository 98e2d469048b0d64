import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'

const FOLDER = fileURLToPath(new URL('../../../../../drizzle', import.meta.url))
// Two processes that start at once take turns; any constant serves as the lock's key.
const LOCK = 7_205_759_403

/** Bring the database at `url` to the newest schema. Safe to call from several processes at once, and again. */
export async function migrateDb(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'muster-migrate' })
  await client.connect()
  try {
    const { rows } = await client.query<{ version: number }>(`select current_setting('server_version_num')::int as version`)
    if (rows[0]!.version < 150000) throw new Error(`Postgres 15 or newer is needed; this server is ${rows[0]!.version}.`)
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await migrate(drizzle({ client }), { migrationsFolder: FOLDER })
  } finally {
    await client.end()
  }
}

if (import.meta.main) {
  const url = process.env.DATABASE_URL
  if (!url) {
    console.error(
      'DATABASE_URL is not set: give the address of the Postgres to migrate, postgres://user:password@host:port/database',
    )
    process.exit(2)
  }
  try {
    await migrateDb(url)
  } catch (error) {
    console.error(`Migration failed: ${error instanceof Error ? error.message : error}`)
    process.exit(1)
  }
}
