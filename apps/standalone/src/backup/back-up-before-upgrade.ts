import path from 'node:path'
import type { Settings } from '../settings.ts'
import { createBackup } from './create-backup.ts'
import { version } from './manifest.ts'

/**
 * Backs up a running database below backups/ of the data directory, before the start migrates it.
 * @returns the directory of the backup; null when MUSTER_UPGRADE_BACKUP is 0
 */
export async function backUpBeforeUpgrade(settings: Settings, url: string): Promise<string | null> {
  const { dataDir, databaseUrl, artifactDir, artifactsBucket, upgradeBackup } = settings
  if (!upgradeBackup) return null
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const to = path.join(dataDir, 'backups', `before-${version}-${time}`)
  const postgresDir = databaseUrl ? null : path.join(dataDir, 'postgres')
  const artifacts = artifactsBucket ? { bucket: artifactsBucket } : { dir: artifactDir }
  try {
    await createBackup({ databaseUrl: url, postgresDir, artifacts }, to)
  } catch (error) {
    throw new Error(
      `${(error as Error).message}\nThe database was not migrated. To migrate it without this backup, set MUSTER_UPGRADE_BACKUP=0.`,
    )
  }
  return to
}
