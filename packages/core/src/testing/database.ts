import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { migrateDb } from '../kernel/db/migrate.ts'
import { type RoleUrls, roleUrls, rulesId } from '../kernel/db/role-urls.ts'
import { createLog } from '../kernel/log.ts'
import { createQueue } from '../kernel/queue.ts'
import { queues } from '../registry.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../../drizzle', import.meta.url))

/** URL of the server on which tests create databases; `npm test` starts one and sets it. */
function adminUrl(): string {
  const url = process.env.TEST_DATABASE_URL
  if (!url)
    throw new Error(
      'TEST_DATABASE_URL is not set: run the tests with `npm test`, or set it to the URL of a Postgres server where databases can be created',
    )
  return url
}

/** `url` is that of the owner; `roles` are those of the application. */
export type TestDatabase = { url: string; roles: RoleUrls; drop(): Promise<void> }

function withDatabase(url: string, name: string): string {
  const u = new URL(url)
  u.pathname = `/${name}`
  return u.href
}

async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: adminUrl() })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function migrationsHash(): string {
  const hash = createHash('sha256').update(rulesId({ app: 'app', system: 'system' }))
  for (const entry of readdirSync(MIGRATIONS, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && entry.name.endsWith('.sql')) hash.update(readFileSync(`${entry.parentPath}/${entry.name}`))
  return hash.digest('hex').slice(0, 12)
}

/** The template of all test databases: the real migrations, applied once per version of the migrations. */
async function ensureTemplate(): Promise<string> {
  const name = `muster_template_${migrationsHash()}`
  await asAdmin(async (admin) => {
    // Test files start in parallel; one of them builds the template and the others wait for it.
    await admin.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount) return
    const building = `${name}_building`
    await admin.query(`drop database if exists ${building}`)
    await admin.query(`create database ${building}`)
    const url = withDatabase(adminUrl(), building)
    await migrateDb(url)
    const queue = await createQueue(url, createLog('test', 'silent'), 'sender', queues)
    await queue.close()
    await admin.query(`alter database ${building} rename to ${name}`)
  })
  return name
}

/**
 * Creates a database with the real schema as a copy of the template, in about ten milliseconds. `drop()` removes it.
 */
export const createTestDatabase = async (): Promise<TestDatabase> => createDatabase(await ensureTemplate())

/** Creates a database without tables. */
export const createEmptyDatabase = (): Promise<TestDatabase> => createDatabase('template1')

async function createDatabase(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin((admin) => admin.query(`create database ${name} template ${template}`))
  const url = withDatabase(adminUrl(), name)
  return {
    url,
    roles: roleUrls({ DATABASE_URL: url }),
    drop: () => asAdmin(async (admin) => void (await admin.query(`drop database if exists ${name} with (force)`))),
  }
}
