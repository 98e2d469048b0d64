import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { chooseUser } from '../postgres/binaries.ts'
import { checksumOf, copyFile, syncFileSystem } from './copy-files.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { runPostgresClient } from './postgres-client.ts'

export type RestoreTarget = {
  dataDir: string
  /** Empty external database; null for the embedded Postgres. */
  databaseUrl: string | null
  /** Directory of the artifact store; null when artifacts are in a bucket. */
  artifactDir: string | null
}

/** Files that may exist in a data directory before a restore. */
const ALLOWED = ['master-password', 'run.json']

/**
 * Restores a backup into an empty data directory or database. Every file is compared with its checksum before anything becomes visible.
 * @throws Error when the target is not empty, the backup is damaged, or its kind of database is not the configured one
 */
export async function restoreBackup(backup: string, { dataDir, databaseUrl, artifactDir }: RestoreTarget): Promise<Manifest> {
  const manifest = readManifest(backup)
  assertDatabaseKind(manifest, databaseUrl)
  const artifacts = manifest.artifacts.kind === 'files' ? artifactDir : null
  const occupied = fs.existsSync(dataDir)
    ? fs.readdirSync(dataDir).filter((name) => !ALLOWED.includes(name) && !name.endsWith('.partial'))
    : []
  if (!databaseUrl && occupied.length)
    throw new Error(
      `The data directory ${dataDir} is not empty (${occupied.slice(0, 3).join(', ')}). Nothing was changed. Move it away, or set MUSTER_DATA_DIR to another directory.`,
    )
  if (artifacts && fs.existsSync(artifacts) && fs.readdirSync(artifacts).length)
    throw new Error(
      `The artifact directory ${artifacts} is not empty. Nothing was changed. Move it away, or set ARTIFACT_DIR to another directory.`,
    )
  if (databaseUrl) {
    await assertEmptyDatabase(databaseUrl)
    await verify(backup, 'database.dump', manifest)
  }
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const parts = [
    ...(databaseUrl ? [] : [{ from: 'postgres', to: path.join(dataDir, 'postgres') }]),
    ...(artifacts ? [{ from: 'artifacts', to: artifacts }] : []),
  ]
  try {
    for (const { from, to } of parts) await copyVerified(backup, from, `${to}.partial`, manifest)
    if (databaseUrl)
      await runPostgresClient('pg_restore', databaseUrl, [
        '--single-transaction',
        '--exit-on-error',
        // The next migration creates the roles with their rights. Without the comment it knows that they are missing.
        '--no-owner',
        '--no-privileges',
        '--no-comments',
        path.join(backup, 'database.dump'),
      ])
    else chownToPostgresUser(path.join(dataDir, 'postgres.partial/data'))
    for (const { to } of parts) await syncFileSystem(`${to}.partial`)
    for (const { to } of parts) {
      if (fs.existsSync(to)) fs.rmdirSync(to)
      fs.renameSync(`${to}.partial`, to)
    }
  } catch (error) {
    for (const { to } of parts) fs.rmSync(`${to}.partial`, { recursive: true, force: true })
    throw error
  }
  return manifest
}

function assertDatabaseKind({ database }: Manifest, databaseUrl: string | null): void {
  if (database.kind === 'dump' && !databaseUrl)
    throw new Error(
      'The backup contains a dump of an external database. Set DATABASE_URL to an empty database and run the command again.',
    )
  if (database.kind === 'embedded' && databaseUrl)
    throw new Error('The backup contains the embedded Postgres. Unset DATABASE_URL and run the command again.')
}

async function assertEmptyDatabase(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select table_schema || '.' || table_name as name from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema') limit 3`,
    )
    if (rows.length)
      throw new Error(
        `The database of DATABASE_URL is not empty (${rows.map(({ name }) => name).join(', ')}). Nothing was changed. Create an empty database and set DATABASE_URL to it.`,
      )
  } finally {
    await client.end()
  }
}

async function verify(backup: string, name: string, manifest: Manifest): Promise<void> {
  assertChecksum(backup, name, manifest, await checksumOf(path.join(backup, name)).catch(() => null))
}

/** Copies the files of one folder of the backup, and compares the bytes that were copied with their checksums. */
async function copyVerified(backup: string, folder: string, to: string, manifest: Manifest): Promise<void> {
  fs.rmSync(to, { recursive: true, force: true })
  fs.mkdirSync(to, { recursive: true, mode: 0o700 })
  const inFolder = (name: string) => name.startsWith(`${folder}/`)
  for (const name of manifest.folders.filter(inFolder)) fs.mkdirSync(targetOf(name), { recursive: true, mode: 0o700 })
  for (const name of Object.keys(manifest.files).filter(inFolder))
    assertChecksum(backup, name, manifest, await copyFile(path.join(backup, name), targetOf(name)))

  function targetOf(name: string): string {
    const target = path.join(to, path.relative(folder, name))
    if (path.relative(to, target).startsWith('..'))
      throw new Error(`The manifest of ${backup} names a file outside the backup: ${name}.`)
    return target
  }
}

function assertChecksum(
  backup: string,
  name: string,
  { files }: Manifest,
  found: { bytes: number; sha256: string } | null,
): void {
  const expected = files[name]
  if (found && expected && found.sha256 === expected.sha256 && found.bytes === expected.bytes) return
  throw new Error(
    `The backup is damaged: ${path.join(backup, name)} ${found ? 'does not match its checksum' : 'is missing'}. Nothing was restored. Use another backup.`,
  )
}

/** Changes the owner of the cluster to the user that runs Postgres, because Postgres does not run as root. */
function chownToPostgresUser(data: string): void {
  const user = chooseUser(data)
  if (!user) return
  for (const name of ['', ...fs.readdirSync(data, { recursive: true, encoding: 'utf8' })])
    fs.lchownSync(path.join(data, name), user.uid, user.gid)
}
