import fs from 'node:fs'
import path from 'node:path'
import { type BackupSource, createBackup } from '../backup/create-backup.ts'
import type { Manifest } from '../backup/manifest.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import { claimDataDir } from '../instance-file.ts'
import { stopOrphan } from '../postgres/stop-orphan.ts'
import type { Settings } from '../settings.ts'
import { type AdminCommand, UsageError } from './command.ts'
import { postgresDirOf, runningDatabaseUrl } from './installation.ts'

/** Backs up a running or stopped installation. */
export const backup: AdminCommand = {
  arguments: 'DIRECTORY',
  summary: 'back up the database and the artifacts',
  help: 'Writes a new DIRECTORY with the database, the artifacts and their checksums, while Muster runs or is stopped. Secrets are encrypted with the master password. The backup does not contain it; keep it separately. Artifacts in a bucket are not included. With DATABASE_URL, pg_dump of the PostgreSQL client is required.',
  run: async (args, settings) => {
    const to = onlyDirectory(args)
    const { databaseUrl } = settings
    const artifacts = artifactsOf(settings)
    if (databaseUrl) return report(to, await createBackup({ databaseUrl, postgresDir: null, artifacts }, to))
    const postgresDir = postgresDirOf(settings)
    const instance = await claimDataDir(settings.dataDir, () => {})
    if (!instance.claimed)
      return report(to, await createBackup({ databaseUrl: runningDatabaseUrl(postgresDir), postgresDir, artifacts }, to))
    try {
      await stopOrphan(path.join(postgresDir, 'data'))
      return report(to, await createBackup({ databaseUrl: null, postgresDir, artifacts }, to))
    } finally {
      instance.release()
    }
  },
}

/** Restores a backup into an empty installation. */
export const restore: AdminCommand = {
  arguments: 'DIRECTORY',
  summary: 'restore a backup into an empty data directory or database',
  help: 'Verifies the checksums of the backup in DIRECTORY. Restores it into the data directory MUSTER_DATA_DIR, which must be empty, or into the empty database of DATABASE_URL. Afterwards, start Muster with the master password of the backup.',
  run: async (args, settings) => {
    const from = onlyDirectory(args)
    const { dataDir } = settings
    const artifacts = artifactsOf(settings)
    const isNew = !fs.existsSync(dataDir)
    fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const instance = await claimDataDir(dataDir, () => {})
    if (!instance.claimed) throw new Error(`Muster runs on ${dataDir}. Stop it, or set MUSTER_DATA_DIR to an empty directory.`)
    let manifest: Manifest
    try {
      manifest = await restoreBackup(from, {
        dataDir,
        databaseUrl: settings.databaseUrl ?? null,
        artifactDir: 'dir' in artifacts ? artifacts.dir : null,
      })
    } finally {
      instance.release()
      if (isNew && fs.readdirSync(dataDir).length === 0) fs.rmdirSync(dataDir)
    }
    const { version, createdAt, artifacts: stored } = manifest
    const lines = [
      `Restored the backup of Muster ${version} from ${createdAt} to ${settings.databaseUrl ? 'the database of DATABASE_URL' : dataDir}.`,
      ...(stored.kind === 'bucket' ? [`It does not contain the artifacts, which were in the bucket ${stored.name}.`] : []),
      settings.hasMasterPassword || fs.existsSync(path.join(dataDir, 'master-password'))
        ? 'Start Muster with the master password of the backup.'
        : `Before you start Muster, write the master password of the backup to ${path.join(dataDir, 'master-password')} or set CREDENTIAL_MASTER_PASSWORD.`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    return 0
  },
}

export function artifactsOf(settings: Settings): BackupSource['artifacts'] {
  const bucket = settings.artifactsBucket
  return bucket ? { bucket } : { dir: settings.artifactDir }
}

function onlyDirectory([directory, ...rest]: string[]): string {
  if (!directory || rest.length) throw new UsageError('Name one directory.')
  return path.resolve(directory)
}

function report(to: string, { files, artifacts }: Manifest): number {
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0)
  const size = bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
  process.stdout.write(`Backup written to ${to} (${Object.keys(files).length} files, ${size}).\n`)
  if (artifacts.kind === 'bucket')
    process.stdout.write(`Back up the bucket ${artifacts.name} separately: it contains the artifacts.\n`)
  process.stdout.write('Keep the master password separately: the backup does not contain it and is useless without it.\n')
  return 0
}
