import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { type Copied, checksumOf, copyFile, listFiles, syncFileSystem } from './copy-files.ts'
import { type Manifest, version, writeManifest } from './manifest.ts'
import { runPostgresClient } from './postgres-client.ts'
import { copyRunningCluster, copyStoppedCluster } from './postgres-files.ts'

export type BackupSource = {
  /** The database. Null: the embedded Postgres of `postgresDir`, which is stopped. */
  databaseUrl: string | null
  /** Folder of the embedded Postgres; null with an external database. */
  postgresDir: string | null
  /** Directory of the artifact store, or the bucket that it is in. */
  artifacts: { dir: string } | { bucket: string }
}

/**
 * Writes a backup of the database and the artifacts to the new directory `to`. The database is copied first, so that the backup
 * contains every artifact that the database refers to. Secrets are encrypted with the master password, which is not in the backup.
 * An interrupted backup leaves `to`.partial, which the next one replaces.
 */
export async function createBackup({ databaseUrl, postgresDir, artifacts }: BackupSource, to: string): Promise<Manifest> {
  if (fs.existsSync(to)) throw new Error(`${to} exists. Name a new directory for the backup.`)
  const partial = `${to}.partial`
  fs.rmSync(partial, { recursive: true, force: true })
  fs.mkdirSync(partial, { recursive: true, mode: 0o700 })
  const files: Manifest['files'] = {}
  const folders: string[] = []
  const add = (folder: string, part: { files: Iterable<[string, Copied]>; folders?: string[] }) => {
    for (const [name, copied] of part.files) files[path.posix.join(folder, name)] = copied
    folders.push(...(part.folders ?? []).map((each) => path.posix.join(folder, each)))
  }
  if (postgresDir) {
    const [data, target] = [path.join(postgresDir, 'data'), path.join(partial, 'postgres/data')]
    add('postgres/data', await (databaseUrl ? copyRunningCluster(databaseUrl, data, target) : copyStoppedCluster(data, target)))
    // The password of the embedded Postgres, which listens on the loopback address only.
    add(
      'postgres',
      await copyAll(postgresDir, path.join(partial, 'postgres'), (name) => name === 'data' || name.startsWith('data.')),
    )
  } else {
    const dump = path.join(partial, 'database.dump')
    await runPostgresClient('pg_dump', databaseUrl!, ['--format=custom', `--file=${dump}`])
    fs.chmodSync(dump, 0o600)
    add('', { files: [['database.dump', await checksumOf(dump)]] })
  }
  if ('dir' in artifacts) add('artifacts', await copyAll(artifacts.dir, path.join(partial, 'artifacts')))
  const manifest: Manifest = {
    format: 1,
    version,
    createdAt: new Date().toISOString(),
    database: postgresDir
      ? { kind: 'embedded', postgresVersion: fs.readFileSync(path.join(postgresDir, 'data/PG_VERSION'), 'utf8').trim() }
      : { kind: 'dump', postgresVersion: await serverVersion(databaseUrl!) },
    artifacts: 'dir' in artifacts ? { kind: 'files' } : { kind: 'bucket', name: artifacts.bucket },
    files,
    folders,
  }
  await syncFileSystem(partial)
  writeManifest(partial, manifest)
  fs.renameSync(partial, to)
  return manifest
}

/** Copies a directory. Files that disappear meanwhile, such as expired artifacts, are not part of the copy. */
async function copyAll(from: string, to: string, isExcluded?: (name: string) => boolean) {
  const { files: names, folders } = listFiles(from, isExcluded)
  const files: [string, Copied][] = []
  for (const name of names) {
    const copied = await copyFile(path.join(from, name), path.join(to, name))
    if (copied) files.push([name, copied])
  }
  return { files, folders }
}

async function serverVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ server_version: string }>('show server_version')).rows[0]!.server_version
  } finally {
    await client.end()
  }
}
