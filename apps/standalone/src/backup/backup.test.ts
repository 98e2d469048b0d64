import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { roleUrls } from '@muster/core/role-urls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openVault } from '../../../../packages/core/src/credentials/index.ts'
import { credentials } from '../../../../packages/core/src/credentials/tables.ts'
import { SYSTEM } from '../../../../packages/core/src/kernel/context.ts'
import { connectDb } from '../../../../packages/core/src/kernel/db/client.ts'
import { migrateDb } from '../../../../packages/core/src/kernel/db/migrate.ts'
import { connectTenants } from '../../../../packages/core/src/kernel/db/tenant-db.ts'
import { createLog } from '../../../../packages/core/src/kernel/log.ts'
import { createQueue } from '../../../../packages/core/src/kernel/queue.ts'
import { queues, relations } from '../../../../packages/core/src/registry.ts'
import { createFactories } from '../../../../packages/core/src/testing/factories.ts'
import { nodeEnvironment } from '../../../../packages/core/src/testing/node-environment.ts'
import { pickPort } from '../ports.ts'
import { type RunningPostgres, startPostgres } from '../postgres/start-postgres.ts'
import { root } from '../root.ts'
import { query } from '../testing/query.ts'
import { createBackup } from './create-backup.ts'
import { restoreBackup } from './restore-backup.ts'

const PASSWORD = 'the master password of the backup'

let home: string
const running: RunningPostgres[] = []
beforeEach(() => {
  // In memory where possible: each test copies a cluster several times.
  home = fs.mkdtempSync(path.join(fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir(), 'muster-backup-'))
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
  fs.rmSync(home, { recursive: true, force: true })
})

const at = (...names: string[]) => path.join(home, ...names)
const target = (name: string) => ({ dataDir: at(name), databaseUrl: null, artifactDir: at(name, 'artifacts') })

async function start(dataDir: string, settings: Record<string, string> = {}): Promise<RunningPostgres> {
  const server = await startPostgres({
    dir: path.join(dataDir, 'postgres'),
    durable: false,
    settings: { fsync: 'off', ...settings },
  })
  running.push(server)
  return server
}

/** Creates a tenant and a credential with an encrypted password, with the verbs of core. */
async function fillDatabase(url: string): Promise<void> {
  await migrateDb(url)
  const { db, close } = connectDb(url, { max: 2, name: 'backup-test', relations })
  const app = connectTenants(roleUrls({ DATABASE_URL: url }).app, { max: 2, name: 'backup-test', relations })
  const queue = await createQueue(url, createLog('test', 'silent'), 'sender', queues)
  const runtime = {
    db,
    tenantDb: app.tenantDb,
    actor: SYSTEM,
    queue,
    log: createLog('test', 'silent'),
    vault: await openVault(db, PASSWORD, 1),
    notify: () => {},
  }
  const given = createFactories(runtime)
  const { admin } = await given.tenant()
  await given.credential(admin, 'BECOME', { password: 'an encrypted secret' })
  await queue.close(0)
  await app.close()
  await close()
}

async function decryptAll(url: string, password: string): Promise<string[]> {
  const { db, close } = connectDb(url, { max: 1, name: 'backup-test', relations })
  try {
    const vault = await openVault(db, password, 1)
    const rows = await db.select().from(credentials)
    return await Promise.all(
      rows.map((row) => vault.open({ tenantId: row.tenantId, objectId: row.id, field: 'password' }, row.encrypted.password!)),
    )
  } finally {
    await close()
  }
}

test('a backup during writes restores into an empty directory, on which the API starts', async () => {
  const dataDir = at('data')
  const postgres = await start(dataDir, { max_wal_size: '32MB', min_wal_size: '32MB' })
  await fillDatabase(postgres.url)
  await query(postgres.url, 'create table writes (id bigint generated always as identity, padding text)')
  fs.mkdirSync(path.join(dataDir, 'artifacts/run'), { recursive: true })
  fs.writeFileSync(path.join(dataDir, 'artifacts/run/log.txt'), 'the log')
  fs.writeFileSync(path.join(dataDir, 'master-password'), PASSWORD, { mode: 0o600 })

  let isWriting = true
  const write = async () => {
    // Checkpoints remove WAL that nothing retains, as in a backup that takes long.
    while (isWriting)
      await query(postgres.url, `insert into writes (padding) select repeat('x', 5000) from generate_series(1, 1000); checkpoint`)
  }
  const writers = [write(), write()]
  await expect.poll(() => query(postgres.url, 'select 1 from writes limit 1')).toHaveLength(1)
  const [before] = await query(postgres.url, 'select count(*)::int as rows from writes')
  const source = {
    databaseUrl: postgres.url,
    postgresDir: path.join(dataDir, 'postgres'),
    artifacts: { dir: path.join(dataDir, 'artifacts') },
  }
  await createBackup(source, at('backup'))
  isWriting = false
  await Promise.all(writers)
  await postgres.stop()

  const all = fs
    .readdirSync(at('backup'), { recursive: true, encoding: 'utf8' })
    .filter((name) => fs.statSync(at('backup', name)).isFile())
  for (const name of all) {
    const content = fs.readFileSync(at('backup', name), 'latin1')
    expect([name, content.includes(PASSWORD), content.includes('an encrypted secret')]).toEqual([name, false, false])
    expect(fs.statSync(at('backup', name)).mode & 0o077).toBe(0)
  }

  await restoreBackup(at('backup'), target('restored'))
  const restored = await start(at('restored'))
  const [after] = await query(restored.url, 'select count(*)::int as rows, count(distinct id)::int as ids from writes')
  expect(after!.rows).toBeGreaterThanOrEqual(before!.rows as number)
  expect(after!.rows).toBe(after!.ids)
  expect((after!.rows as number) % 1000).toBe(0) // whole transactions only
  expect(fs.readFileSync(at('restored/artifacts/run/log.txt'), 'utf8')).toBe('the log')
  expect(await decryptAll(restored.url, PASSWORD)).toEqual(['an encrypted secret'])
  await expect(decryptAll(restored.url, 'another master password')).rejects.toThrow(/master password is incorrect/)
  await expectApiStarts(restored.url, at('restored'))
})

/** Starts the API with the master password of the backup and waits until it is ready. */
async function expectApiStarts(databaseUrl: string, dataDir: string): Promise<void> {
  const port = await pickPort()
  const env: NodeJS.ProcessEnv = {
    ...nodeEnvironment,
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    HOST: '127.0.0.1',
    MUSTER_PUBLIC_URL: `http://127.0.0.1:${port}`,
    MUSTER_DATA_DIR: dataDir,
    ARTIFACT_DIR: path.join(dataDir, 'artifacts'),
    CREDENTIAL_MASTER_PASSWORD_FILE: at('data/master-password'),
  }
  const api = spawn(process.execPath, ['apps/api/src/main.ts'], { cwd: root, env, stdio: 'ignore' })
  try {
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await expect.poll(async () => api.exitCode !== null || (await isReady())).toBe(true)
    expect(api.exitCode).toBe(null)
  } finally {
    api.kill('SIGKILL')
    if (api.exitCode === null && api.signalCode === null) await once(api, 'exit')
  }
}

test('a backup of a stopped installation restores; a target that is not empty stays unchanged', async () => {
  const postgres = await start(at('data'))
  await query(postgres.url, 'create table stored as select 1 as value')
  await postgres.stop()
  const source = { databaseUrl: null, postgresDir: at('data/postgres'), artifacts: { dir: at('data/artifacts') } }
  await createBackup(source, at('backup'))
  await expect(createBackup(source, at('backup'))).rejects.toThrow(`${at('backup')} exists. Name a new directory for the backup.`)
  await expect(restoreBackup(at('backup'), target('data'))).rejects.toThrow(
    /data is not empty \(.*postgres.*\)\. Nothing was changed\./,
  )
  await restoreBackup(at('backup'), target('restored'))
  const restored = await start(at('restored'))
  expect(await query(restored.url, 'select value from stored')).toEqual([{ value: 1 }])
})

test('rejects a damaged, incomplete or newer backup, or one of another kind of database, and restores nothing', async () => {
  fs.mkdirSync(at('data/postgres/data'), { recursive: true })
  fs.writeFileSync(at('data/postgres/data/PG_VERSION'), '18\n')
  await createBackup(
    { databaseUrl: null, postgresDir: at('data/postgres'), artifacts: { dir: at('data/artifacts') } },
    at('backup'),
  )
  const expectRefused = async (reason: RegExp) => {
    await expect(restoreBackup(at('backup'), target('restored'))).rejects.toThrow(reason)
    expect(fs.existsSync(at('restored')) ? fs.readdirSync(at('restored')) : []).toEqual([])
  }
  const file = at('backup/postgres/data/PG_VERSION')
  const content = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, content.replace('8', '9'))
  await expectRefused(/is damaged: .*PG_VERSION does not match its checksum\. Nothing was restored/)
  fs.rmSync(file)
  await expectRefused(/is damaged: .*PG_VERSION is missing/)
  fs.writeFileSync(file, content)

  const manifest = JSON.parse(fs.readFileSync(at('backup/manifest.json'), 'utf8'))
  const withManifest = (changes: object) =>
    fs.writeFileSync(at('backup/manifest.json'), JSON.stringify({ ...manifest, ...changes }))
  withManifest({ format: 2, version: '9.0.0' })
  await expectRefused(/created by Muster 9\.0\.0, which is newer/)
  withManifest({ database: { kind: 'dump', postgresVersion: '17.1' } })
  await expectRefused(/dump of an external database\. Set DATABASE_URL/)
  withManifest({ files: { ...manifest.files, 'postgres/../../outside': { bytes: 0, sha256: '' } } })
  await expectRefused(/names a file outside the backup/)
  fs.rmSync(at('backup/manifest.json'))
  await expectRefused(/is not a complete backup/)
})
