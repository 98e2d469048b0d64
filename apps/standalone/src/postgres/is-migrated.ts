import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { root } from '../root.ts'

/**
 * Whether the database has exactly the migrations of the folder drizzle/. Checking here saves starting a process.
 * Returns false on any error, because running the migrations again changes nothing.
 */
export async function isMigrated(url: string, folder = path.join(root, 'drizzle')): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string; hash: string }>('select name, hash from drizzle.__drizzle_migrations')
    const expected = fs.globSync('*/migration.sql', { cwd: folder }).map((file) => {
      const hash = createHash('sha256')
        .update(fs.readFileSync(path.join(folder, file)))
        .digest('hex')
      return `${path.dirname(file)} ${hash}`
    })
    return JSON.stringify(rows.map(({ name, hash }) => `${name} ${hash}`).sort()) === JSON.stringify(expected.sort())
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
