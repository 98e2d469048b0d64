import fs from 'node:fs'
import path from 'node:path'
import { claimDataDir } from '../instance-file.ts'
import { startPostgres } from '../postgres/start-postgres.ts'
import type { Settings } from '../settings.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export type Installation = {
  databaseUrl: string
  /** Whether `npm start` runs on the data directory. False with an external database: other processes are not visible then. */
  isRunning: boolean
}

/**
 * Calls `work` with the installation's database: the external one, or the embedded one. The embedded Postgres of a stopped
 * installation is started for the duration of the call, and `npm start` does not start meanwhile.
 * @throws Error when the data directory has no installation
 */
export async function withInstallation<T>(settings: Settings, work: (installation: Installation) => Promise<T>): Promise<T> {
  const { dataDir, databaseUrl } = settings
  if (databaseUrl) return await work({ databaseUrl, isRunning: false })
  const dir = postgresDirOf(settings)
  const instance = await claimDataDir(dataDir, () => {})
  if (!instance.claimed) return await work({ databaseUrl: runningDatabaseUrl(dir), isRunning: true })
  const starting = startPostgres({ dir })
  const stop = async () => {
    await starting.then((postgres) => postgres.stop()).catch(() => {})
    instance.release()
  }
  const onSignal = (signal: NodeJS.Signals) => void stop().then(() => process.exit(signal === 'SIGINT' ? 130 : 143))
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    const postgres = await starting
    return await work({ databaseUrl: postgres.url, isRunning: false })
  } finally {
    await stop()
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

/** Folder of the embedded Postgres. @throws Error when the data directory has no installation */
export function postgresDirOf({ dataDir }: Settings): string {
  const dir = path.join(dataDir, 'postgres')
  if (fs.existsSync(path.join(dir, 'data/PG_VERSION'))) return dir
  throw new Error(
    `${dataDir} contains no Muster installation. Set MUSTER_DATA_DIR to the data directory of npm start, or DATABASE_URL to the database.`,
  )
}

/** URL of the embedded Postgres that `npm start` runs. Line 4 of postmaster.pid is the port. */
export function runningDatabaseUrl(dir: string): string {
  try {
    const port = Number(fs.readFileSync(path.join(dir, 'data/postmaster.pid'), 'utf8').split('\n')[3])
    const password = fs.readFileSync(path.join(dir, 'password'), 'utf8').trim()
    if (port > 0) return `postgres://muster:${password}@127.0.0.1:${port}/muster`
  } catch {
    // starting or stopping
  }
  throw new Error(`Muster is starting or stopping on ${path.dirname(dir)}. Run the command again in a moment.`)
}
