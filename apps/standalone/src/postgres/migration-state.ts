import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { root } from '../root.ts'

/**
 * How the database differs from the migrations of the folder drizzle/. Checking here saves starting a process.
 * - `current`: it has exactly these
 * - `upgrade`: a released older version created it, and some are pending
 * - `other`: it is empty, or another version created it; also on any error, because running the migrations again changes nothing
 */
export async function migrationState(url: string, folder = path.join(root, 'drizzle')): Promise<'current' | 'upgrade' | 'other'> {
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
    const applied = rows.map(({ name, hash }) => `${name} ${hash}`)
    if (applied.length === 0 || applied.some((one) => !expected.includes(one))) return 'other'
    return applied.length === expected.length ? 'current' : 'upgrade'
  } catch {
    return 'other'
  } finally {
    await client.end().catch(() => {})
  }
}
