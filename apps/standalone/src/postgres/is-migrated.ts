import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { root } from '../root.ts'

/**
 * Whether the database has exactly the migrations of the folder drizzle/, which saves starting a process to find out.
 * False when in doubt: migrating again changes nothing.
 */
export async function isMigrated(url: string, folder = path.join(root, 'drizzle')): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string | null }>('select name from drizzle.__drizzle_migrations order by name')
    const expected = fs.readdirSync(folder).filter((name) => fs.existsSync(path.join(folder, name, 'migration.sql')))
    return JSON.stringify(rows.map(({ name }) => name).sort()) === JSON.stringify(expected.sort())
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
