import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { countRows, fillEmptyTables, RELEASES, type Release } from '@muster/core/testing'
import { startTestPostgres } from '../../../../standalone/src/postgres/test-postgres.ts'
import { debianPostgres } from '../../../../standalone/src/testing/debian-postgres.ts'
import { testApi } from '../api.ts'
import { fillDatabase } from './fill-database.ts'

// `node apps/api/src/testing/releases/record-release.ts VERSION` stores a filled database of the current schema in
// packages/core/releases/VERSION, for upgrade tests of later versions. The server is Debian's oldest supported Postgres, so that its
// pg_dump can read it, and so that every later server can load it.
const version = process.argv[2]!
const native = debianPostgres()
if (!version || !native) {
  console.error(native ? 'Usage: record-release.ts VERSION' : 'Install the package postgresql, which contains pg_dump.')
  process.exit(2)
}
const folder = join(RELEASES, version)
if (existsSync(folder)) {
  console.error(`${folder} exists. A released database never changes.`)
  process.exit(1)
}
const postgres = await startTestPostgres({ native })
try {
  process.env.TEST_DATABASE_URL = postgres.url
  const t = await testApi({ vault: 'real' })
  try {
    const { admin } = await fillDatabase(t)
    const problems = await fillEmptyTables(t.url)
    for (const problem of problems) console.error(`Not filled: ${problem}`)
    const release: Release = { version, migrations: readMigrations(), rows: await countRows(t.url), admin }
    const sql = dump(t.url)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'release.json'), `${JSON.stringify(release, null, 2)}\n`)
    writeFileSync(join(folder, 'database.sql.gz'), gzipSync(sql, { level: 9 }))
    console.log(`Recorded ${Object.keys(release.rows).length} tables of version ${version}.`)
    if (problems.length) process.exitCode = 1
  } finally {
    await t.close()
  }
} finally {
  await postgres.stop()
}
process.exit()

function readMigrations(): Record<string, string> {
  const drizzle = fileURLToPath(new URL('../../../../../drizzle', import.meta.url))
  const hashOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(drizzle, name, 'migration.sql')))
      .digest('hex')
  return Object.fromEntries(
    readdirSync(drizzle)
      .sort()
      .map((name) => [name, hashOf(name)]),
  )
}

/** The database as SQL for any client: without the commands of psql, and without the name of the owner. */
function dump(url: string): string {
  const { password, username, hostname, port, pathname } = new URL(url)
  const args = ['--no-owner', '--inserts', '--rows-per-insert=100', '-h', hostname, '-p', port, '-U', username, pathname.slice(1)]
  const sql = execFileSync(`${native}/bin/pg_dump`, args, { env: { PGPASSWORD: password }, encoding: 'utf8', maxBuffer: 1e9 })
  return sql.replaceAll(/^\\(un)?restrict .*\n/gm, '').replaceAll(/\bFOR ROLE muster\b/g, 'FOR ROLE CURRENT_USER')
}
