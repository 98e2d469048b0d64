import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEmptyDatabase } from '../../testing/database.ts'
import { Conflict } from '../errors.ts'
import { migrateDb } from './migrate.ts'

let database: Awaited<ReturnType<typeof createEmptyDatabase>>
let client: pg.Client
beforeEach(async () => {
  database = await createEmptyDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await database.drop()
})

/** Every table with its number of rows. */
async function contents(): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema in ('public', 'drizzle') order by 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of rows) counts[name] = (await client.query(`select 1 from ${name}`)).rowCount!
  return counts
}

test('migrates an empty database once, also when called concurrently and again', async () => {
  await Promise.all([migrateDb(database.url), migrateDb(database.url)])
  const migrated = await contents()
  const migrations = readdirSync(path.join(import.meta.dirname, '../../../../../drizzle')).length
  expect(migrated).toMatchObject({ 'drizzle.__drizzle_migrations': migrations, 'public.compute_nodes': 0 })
  await migrateDb(database.url)
  expect(await contents()).toEqual(migrated)
})

test('the program reads its URL from a file', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-migrate-'))
  const run = (file: string) => {
    const env: NodeJS.ProcessEnv = { ...process.env, DATABASE_URL_FILE: file, NODE_OPTIONS: '' }
    delete env.DATABASE_URL
    return promisify(execFile)(process.execPath, [path.join(import.meta.dirname, 'migrate.ts')], { env })
  }
  writeFileSync(path.join(folder, 'url'), `${database.url}\n`)
  await run(path.join(folder, 'url'))
  expect(await contents()).toMatchObject({ 'public.compute_nodes': 0 })
  const stderr = expect.stringMatching(/^DATABASE_URL_FILE names .*\/missing, which cannot be read \(ENOENT\)\.\n$/)
  await expect(run(path.join(folder, 'missing'))).rejects.toMatchObject({ code: 2, stderr })
  rmSync(folder, { recursive: true })
})

describe('leaves a database of another version unchanged', () => {
  const rejects = async (message: RegExp, dataDir?: string) => {
    const before = await contents()
    const error = await migrateDb(database.url, dataDir).catch((error: Error) => error)
    expect(error).toBeInstanceOf(Conflict)
    expect((error as Error).message).toMatch(message)
    expect((error as Error).message).not.toContain(new URL(database.url).password || '://')
    expect(await contents()).toEqual(before)
  }

  test('pre-release, by its migrations', async () => {
    await client.query(`create schema drizzle;
      create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint, name text);
      insert into drizzle.__drizzle_migrations (hash, name) values ('a', '20261120130821_create_tables'), ('b', '20261121170701_add_alerts');
      create table agent_beats (id int); insert into agent_beats values (1)`)
    await rejects(/^The database test_\w+ on \S+ is from a pre-release version .* create another database and set DATABASE_URL/)
    await rejects(
      /^The data directory \/var\/lib\/muster is from a pre-release version .* set MUSTER_DATA_DIR/,
      '/var/lib/muster',
    )
  })

  test('pre-release, by its tables', async () => {
    await client.query('create table compute_nodes (id int)')
    await rejects(/pre-release/)
  })

  test('pre-release, by the content of a migration', async () => {
    await migrateDb(database.url)
    await client.query(`update drizzle.__drizzle_migrations set hash = 'earlier'`)
    await rejects(/pre-release/)
  })

  test('newer', async () => {
    await migrateDb(database.url)
    await client.query(`insert into drizzle.__drizzle_migrations (hash, name) values ('x', '20990101000000_later')`)
    await rejects(/newer version of Muster \(20990101000000_later\)/)
  })
})
