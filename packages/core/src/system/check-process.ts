import { sql } from 'drizzle-orm'
import { unsupportedSettings } from '../kernel/config.ts'
import type { Vault } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import type { Observation } from '../kernel/finding.ts'
import { checkDisk } from './check-disk.ts'
import { checkFiles, type PrivatePath } from './check-files.ts'

/** Environment, paths and vault of an API or worker process. */
export type ProcessFacts = {
  env: NodeJS.ProcessEnv
  privatePaths: PrivatePath[]
  /** Directories that it writes to. */
  dataPaths: string[]
  vault: Vault
}

/** Checks of one process: its settings, files, disks, clock and encryption key. */
export async function checkProcess(db: Db, { env, privatePaths, dataPaths, vault }: ProcessFacts): Promise<Observation[]> {
  const all = [
    checkConfiguration(env),
    checkFiles(privatePaths),
    checkDisk(dataPaths),
    checkClock(db).then((one) => [one]),
    checkVault(vault).then((one) => [one]),
  ]
  return (await Promise.all(all)).flat()
}

async function checkConfiguration(env: NodeJS.ProcessEnv): Promise<Observation[]> {
  const lines = unsupportedSettings(env)
  if (lines.length === 0)
    return [{ check: 'CONFIGURATION', severity: 'OK', message: 'All settings are supported.', nextStep: null }]
  return lines.map((message) => ({ check: 'CONFIGURATION', severity: 'WARNING', message, nextStep: 'Remove the setting.' }))
}

/** Compares this machine's clock with the database's, which decides about heartbeats, sessions and schedules. */
export async function checkClock(db: Db, now: () => number = Date.now): Promise<Observation> {
  const before = now()
  const { rows } = await db.execute<{ ms: number }>(sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`)
  const after = now()
  // The database read its clock at some time in between.
  const offset = rows[0]!.ms < before ? rows[0]!.ms - before : Math.max(0, rows[0]!.ms - after)
  const seconds = Math.abs(offset) / 1000
  if (seconds < 2) return { check: 'CLOCK', severity: 'OK', message: 'The clock agrees with the database.', nextStep: null }
  return {
    check: 'CLOCK',
    severity: seconds < 30 ? 'WARNING' : 'ERROR',
    message: `The clock is ${seconds.toFixed(1)} s ${offset > 0 ? 'behind' : 'ahead of'} that of the database.`,
    nextStep: 'Synchronize both machines with NTP (for example chrony) and check with `timedatectl`.',
  }
}

/** Encrypts and decrypts with the newest key, which fails when this process has another master password. */
async function checkVault(vault: Vault): Promise<Observation> {
  const place = { tenantId: '', objectId: '', field: 'system_check' }
  try {
    const version = await vault.newestVersion()
    if ((await vault.open(place, await vault.encrypt(place, 'check'))) !== 'check') throw new Error('another text was decrypted')
    return { check: 'ENCRYPTION_KEY', severity: 'OK', message: `Key version ${version} encrypts and decrypts.`, nextStep: null }
  } catch (error) {
    return {
      check: 'ENCRYPTION_KEY',
      severity: 'ERROR',
      message: `The newest encryption key cannot be used: ${(error as Error).message}`,
      nextStep: 'Restart the process with the current master password (CREDENTIAL_MASTER_PASSWORD, or its _FILE or _FD).',
    }
  }
}
