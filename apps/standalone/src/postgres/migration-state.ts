import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { type RoleUrls, rulesId, userOf } from '@muster/core/role-urls'
import pg from 'pg'
import { root } from '../root.ts'

/**
 * How the database differs from the migrations of the folder drizzle/. Checking here saves starting a process.
 * - `current`: it has exactly these, and its roles can connect and have the rights of this version
 * - `upgrade`: a released older version created it, and some are pending
 * - `other`: it is empty, or another version created it, or its roles differ; also on any error, because running the migrations again
 *   changes nothing
 * @param url that of the owner
 */
export async function migrationState(
  url: string,
  roles: RoleUrls,
  folder = path.join(root, 'drizzle'),
): Promise<'current' | 'upgrade' | 'other'> {
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
    if (applied.length !== expected.length) return 'upgrade'
    const { rows: comments } = await client.query<{ rules: string | null }>(
      `select obj_description(to_regnamespace('drizzle'), 'pg_namespace') as rules`,
    )
    if (comments[0]!.rules !== rulesId({ app: userOf(roles.app), system: userOf(roles.system) })) return 'other'
    for (const role of [roles.app, roles.system]) await tryToConnect(role)
    return 'current'
  } catch {
    return 'other'
  } finally {
    await client.end().catch(() => {})
  }
}

async function tryToConnect(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  await client.end()
}
