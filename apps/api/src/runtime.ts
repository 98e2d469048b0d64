import { openArtifactStore } from '@muster/core/artifacts'
import { ARTIFACT_STORE, loadConfig, MASTER_PASSWORD, takeMasterPassword } from '@muster/core/config'
import type { Runtime } from '@muster/core/context'
import { openVault } from '@muster/core/credentials'
import { awaitDatabase, connectDb } from '@muster/core/db'
import { createNotifier } from '@muster/core/events'
import { createLog } from '@muster/core/log'
import { createQueue } from '@muster/core/queue'
import { deriveAuthSecret } from './auth.ts'

const NAMES = [
  'DATABASE_URL',
  ...MASTER_PASSWORD,
  ...ARTIFACT_STORE,
  'CREDENTIAL_KEY_VERSION',
  'AUTH_SECRET',
  'MUSTER_PUBLIC_URL',
  'LOG_LEVEL',
] as const

/**
 * What the programs of this folder work with, from their environment.
 * @param name the program, in logs and among the database's connections
 * @param signal with it, a database that is away or has no tables yet is waited for until this fires
 * @throws Error wrong configuration, no database (without `signal`), or another master password than the one that credentials were sealed with
 */
export async function openRuntime(env: NodeJS.ProcessEnv, name: string, signal?: AbortSignal) {
  const config = loadConfig(env, NAMES)
  const password = takeMasterPassword(config, env)
  const log = createLog(name, config.LOG_LEVEL)
  const { db, pool, close } = connectDb(config.DATABASE_URL, { max: 16, name: `muster-${name}` })
  if (signal) await awaitDatabase(db, log, signal)
  const [queue, vault] = await Promise.all([
    createQueue(config.DATABASE_URL, log, 'sender'),
    openVault(db, password, config.CREDENTIAL_KEY_VERSION),
  ])
  const notifier = createNotifier(config.DATABASE_URL, log)
  const runtime: Runtime = { db, queue, vault, log, notify: (nudge) => notifier.notify(nudge) }
  return {
    runtime,
    store: openArtifactStore(config),
    pool,
    databaseUrl: config.DATABASE_URL,
    publicUrl: config.MUSTER_PUBLIC_URL,
    authSecret: config.AUTH_SECRET ?? deriveAuthSecret(password),
    async close() {
      await queue.close()
      await notifier.close()
      await close()
    },
  }
}
