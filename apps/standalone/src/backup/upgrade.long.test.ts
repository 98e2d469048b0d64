import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { roleUrls } from '@muster/core/role-urls'
import { countRows, listReleases, loadRelease } from '@muster/core/testing'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { migrateDb } from '../../../../packages/core/src/kernel/db/migrate.ts'
import { migrationState } from '../postgres/migration-state.ts'
import { type RunningPostgres, startPostgres } from '../postgres/start-postgres.ts'
import { prepareDatabase } from '../prepare-database.ts'
import { root } from '../root.ts'
import { readSettings } from '../settings.ts'
import { query } from '../testing/query.ts'
import { backUpBeforeUpgrade } from './back-up-before-upgrade.ts'
import { restoreBackup } from './restore-backup.ts'

const running: RunningPostgres[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

async function start(dataDir: string): Promise<RunningPostgres> {
  const server = await startPostgres({ dir: path.join(dataDir, 'postgres'), durable: false, settings: { fsync: 'off' } })
  running.push(server)
  return server
}

test('an upgrade backs up first; the older version rejects the new schema and runs on the restored backup', async () => {
  const home = fs.mkdtempSync(path.join(fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir(), 'muster-upgrade-'))
  onTestFinished(() => fs.rmSync(home, { recursive: true, force: true }))
  const [older, newer] = [path.join(root, 'drizzle'), path.join(home, 'drizzle')]
  fs.cpSync(older, newer, { recursive: true })
  fs.mkdirSync(path.join(newer, '29990101000000_next'))
  fs.writeFileSync(path.join(newer, '29990101000000_next/migration.sql'), 'alter table tenants add column next text;')
  const settings = readSettings([], { MUSTER_DATA_DIR: path.join(home, 'data') })
  const postgres = await start(settings.dataDir)
  const backups: (string | null)[] = []
  const startVersion = (folder: string) =>
    prepareDatabase(postgres.url, roleUrls({ DATABASE_URL: postgres.url }), {
      folder,
      backUp: async () => backups.push(await backUpBeforeUpgrade(settings, postgres.url)),
      migrate: () => migrateDb(postgres.url, undefined, folder),
    })

  await startVersion(older)
  await startVersion(older)
  expect(backups).toEqual([])
  await query(postgres.url, `insert into tenants (id, name) values (gen_random_uuid(), 'of the older version')`)

  const failing = prepareDatabase(postgres.url, roleUrls({ DATABASE_URL: postgres.url }), {
    folder: newer,
    backUp: () => Promise.reject(new Error('disk full')),
    migrate: () => startVersion(newer),
  })
  await expect(failing).rejects.toThrow('disk full')
  expect(await migrationState(postgres.url, roleUrls({ DATABASE_URL: postgres.url }), newer)).toBe('upgrade')

  await startVersion(newer)
  expect(backups).toHaveLength(1)
  expect(await migrationState(postgres.url, roleUrls({ DATABASE_URL: postgres.url }), newer)).toBe('current')
  await query(postgres.url, `insert into tenants (id, name, next) values (gen_random_uuid(), 'of the newer version', 'x')`)
  await expect(startVersion(older)).rejects.toThrow(/was migrated by a newer version of Muster .*or restore a backup from before/)

  const target = path.join(home, 'rolled-back')
  await restoreBackup(backups[0]!, { dataDir: target, databaseUrl: null, artifactDir: path.join(target, 'artifacts') })
  const restored = await start(target)
  expect(await migrationState(restored.url, roleUrls({ DATABASE_URL: restored.url }), older)).toBe('current')
  expect(await query(restored.url, 'select name from tenants')).toEqual([{ name: 'of the older version' }])
})

// The newest release only: a backup copies files and does not depend on the schema.
test.each(listReleases().slice(-1))('an upgrade of version $version can be rolled back with its backup', async (release) => {
  const home = fs.mkdtempSync(path.join(fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir(), 'muster-rollback-'))
  onTestFinished(() => fs.rmSync(home, { recursive: true, force: true }))
  const newer = path.join(home, 'drizzle')
  fs.cpSync(path.join(root, 'drizzle'), newer, { recursive: true })
  fs.mkdirSync(path.join(newer, '29990101000000_next'))
  fs.writeFileSync(path.join(newer, '29990101000000_next/migration.sql'), 'alter table tenants add column next text;')
  const settings = readSettings([], { MUSTER_DATA_DIR: path.join(home, 'data') })
  const postgres = await start(settings.dataDir)
  await loadRelease(release, postgres.url)
  let backup: string | null = null
  await prepareDatabase(postgres.url, roleUrls({ DATABASE_URL: postgres.url }), {
    folder: newer,
    backUp: async () => (backup = await backUpBeforeUpgrade(settings, postgres.url)),
    migrate: () => migrateDb(postgres.url, undefined, newer),
  })
  await query(postgres.url, `update tenants set next = 'changed by the newer version', name = id::text`)

  const target = path.join(home, 'rolled-back')
  await restoreBackup(backup!, { dataDir: target, databaseUrl: null, artifactDir: path.join(target, 'artifacts') })
  const restored = await start(target)
  // The table is unlogged: agents report again.
  expect(await countRows(restored.url)).toEqual({ ...release.rows, agent_reports: 0 })
  expect(await query(restored.url, 'select name from tenants where name = id::text')).toEqual([])
  expect(await query(restored.url, 'select name from drizzle.__drizzle_migrations')).toHaveLength(
    Object.keys(release.migrations).length,
  )
})
