import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { loadConfig, pickSettings, processSettings } from '../config.ts'
import { Conflict } from '../errors.ts'
import { migrateQueue } from '../queue.ts'
import type { Db } from './client.ts'
import { type RoleUrls, roleUrls, userOf } from './role-urls.ts'
import { ensureRoles } from './roles.ts'
import { secureRows } from './row-security.ts'

const FOLDER = fileURLToPath(new URL('../../../../../drizzle', import.meta.url))
// Processes that start at the same time migrate one after the other; the lock's key is arbitrary.
const LOCK = 7_205_759_403

/**
 * Migrates the database to the newest schema, and creates the roles of the application with their rights. Concurrent and repeated
 * calls are safe.
 * @param url that of the owner
 * @param dataDir data directory of an embedded Postgres, named in errors
 * @param folder the migrations; another one than drizzle/ only in tests
 * @param roles of the application; default: derived from `url`
 * @throws Conflict when another version of Muster created the database, which stays unchanged, or when the owner may not create roles
 */
export async function migrateDb(
  url: string,
  dataDir?: string,
  folder = FOLDER,
  roles: RoleUrls = roleUrls({ DATABASE_URL: url }),
): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'muster-migrate' })
  await client.connect()
  try {
    const { rows } = await client.query<{ version: number }>(`select current_setting('server_version_num')::int as version`)
    if (rows[0]!.version < 150000) throw new Error(`Postgres 15 or newer is needed; this server is ${rows[0]!.version}.`)
    await client.query('select pg_advisory_lock($1)', [LOCK])
    const reason = await otherVersionReason(client, folder, dataDir)
    if (reason) throw new Conflict(reason)
    await ensureRoles(client, roles)
    await migrate(drizzle({ client }), { migrationsFolder: folder })
    await migrateQueue(url)
    await secureRows(client, { app: userOf(roles.app), system: userOf(roles.system) })
  } finally {
    await client.end()
  }
}

/** Why this version cannot migrate the database, which another version created; null when it can. */
async function otherVersionReason(client: pg.Client, folder: string, dataDir?: string): Promise<string | null> {
  const applied = await appliedMigrations(client)
  if (applied.size === 0) return null
  const known = new Map(
    fs.readdirSync(folder).map((name) => [name, createHash('sha256').update(readMigration(folder, name)).digest('hex')]),
  )
  const [initial] = [...known.keys()].sort()
  const what = dataDir ? `The data directory ${dataDir}` : `The database ${client.database} on ${client.host}:${client.port}`
  if ([...applied].some(([name, hash]) => known.has(name) && known.get(name) !== hash) || !applied.has(initial!))
    return `${what} is from a pre-release version of Muster and cannot be migrated. It was not changed. ${
      dataDir
        ? 'To start with an empty one, set MUSTER_DATA_DIR to another directory, or move this one away.'
        : 'To start with an empty one, create another database and set DATABASE_URL to it.'
    } The version that created it still runs with it.`
  const newer = [...applied.keys()].filter((name) => !known.has(name))
  if (newer.length === 0) return null
  return `${what} was migrated by a newer version of Muster (${newer.join(', ')}). It was not changed. Start that version, or restore a backup from before.`
}

/** Name and hash of the migrations that were applied; a pre-release placeholder where their record is missing. */
async function appliedMigrations(client: pg.Client): Promise<Map<string, string>> {
  const { rows: found } = await client.query<{ migrations: boolean; nodes: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null as migrations, to_regclass('compute_nodes') is not null as nodes`,
  )
  const { migrations, nodes } = found[0]!
  const rows: { name?: string; hash: string }[] = migrations
    ? (await client.query('select * from drizzle.__drizzle_migrations')).rows
    : nodes
      ? [{ hash: '' }]
      : []
  return new Map(rows.map(({ name, hash }, i) => [name ?? `pre-release-${i}`, hash]))
}

/** Names of the migrations of this version that the database does not have, oldest first. */
export async function pendingMigrations(db: Pick<Db, 'execute'>): Promise<string[]> {
  const { rows } = await db.execute<{ name: string }>(sql`select name from drizzle.__drizzle_migrations`)
  const applied = new Set(rows.map(({ name }) => name))
  return fs
    .readdirSync(FOLDER)
    .filter((name) => !applied.has(name))
    .sort()
}

const readMigration = (folder: string, name: string): string => fs.readFileSync(path.join(folder, name, 'migration.sql'), 'utf8')

function readConfig() {
  try {
    return loadConfig(process.env, pickSettings(processSettings, 'DATABASE_URL', 'DATABASE_APP_URL', 'DATABASE_SYSTEM_URL'))
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

if (import.meta.main) {
  const config = readConfig()
  const { DATABASE_URL: url } = config
  if (!url) {
    console.error('DATABASE_URL is not set. Set it to the Postgres to migrate: postgres://user:password@host:port/database')
    process.exit(2)
  }
  try {
    await migrateDb(url, process.env.EMBEDDED_POSTGRES_DIR, FOLDER, roleUrls(config))
  } catch (error) {
    console.error(
      error instanceof Conflict ? error.message : `Migration failed: ${error instanceof Error ? error.message : error}`,
    )
    process.exit(1)
  }
}
