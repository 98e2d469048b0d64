import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { roleUrls, userOf } from '../kernel/db/role-urls.ts'
import { ensureRoles } from '../kernel/db/roles.ts'

/** Folder with a database of each released version: VERSION/release.json and VERSION/database.sql.gz. `npm run release` creates them. */
export const RELEASES = fileURLToPath(new URL('../../releases', import.meta.url))

/** A released schema and the database that this version filled. */
export type Release = {
  version: string
  /** SHA-256 of each migration by name. Released migrations never change. */
  migrations: Record<string, string>
  /** Rows of each table. */
  rows: Record<string, number>
  /** Sign-in of an admin. */
  admin: { email: string; password: string }
}

/** The released versions, oldest first. */
export function listReleases(): Release[] {
  if (!existsSync(RELEASES)) return []
  return readdirSync(RELEASES)
    .map((version) => JSON.parse(readFileSync(join(RELEASES, version, 'release.json'), 'utf8')) as Release)
    .sort((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }))
}

/** Loads the database of a release into an empty one. @param url that of its owner */
export async function loadRelease({ version }: Pick<Release, 'version'>, url: string): Promise<void> {
  const roles = roleUrls({ DATABASE_URL: url })
  const text = gunzipSync(readFileSync(join(RELEASES, version, 'database.sql.gz'))).toString()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await ensureRoles(client, roles)
    await client.query(
      text.replaceAll(/\bmuster_(app|system)\b/g, (_, role: 'app' | 'system') =>
        pg.escapeIdentifier(userOf(roles[role])).slice(1, -1),
      ),
    )
  } finally {
    await client.end()
  }
}

/** Rows of each table of the schema `public`; partitions count in their parent. @param url that of the owner */
export async function countRows(url: string): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
    )
    const counts: Record<string, number> = {}
    for (const { name } of rows)
      counts[name] = (await client.query<{ n: number }>(`select count(*)::int as n from ${pg.escapeIdentifier(name)}`)).rows[0]!.n
    return counts
  } finally {
    await client.end()
  }
}
