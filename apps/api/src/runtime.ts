import { accessSettings } from '@muster/core/access'
import { artifactStoreSettings, openArtifactStore } from '@muster/core/artifacts'
import { loadConfig, pickSettings, processSettings } from '@muster/core/config'
import { credentialKeySettings, masterPasswordSettings, openVault, takeMasterPassword } from '@muster/core/credentials'
import { awaitDatabase, connectDb } from '@muster/core/db'
import { createNotifier } from '@muster/core/events'
import { createLog } from '@muster/core/log'
import { createQueue } from '@muster/core/queue'
import type { Runtime } from '@muster/core/registry'
import { queues, relations } from '@muster/core/registry'
import { deriveAuthSecret } from './sign-in/auth.ts'

const SETTINGS = {
  ...processSettings,
  ...masterPasswordSettings,
  ...credentialKeySettings,
  ...artifactStoreSettings,
  ...pickSettings(accessSettings, 'AUTH_SECRET', 'MUSTER_PUBLIC_URL'),
}

/**
 * What the programs of this folder work with, from their environment.
 * @param name the program, in logs and among the database's connections
 * @param signal with it, a database that is away or has no tables yet is waited for until this fires
 * @throws Error wrong configuration, no database (without `signal`), or another master password than the one that credentials were sealed with
 */
export async function openRuntime(env: NodeJS.ProcessEnv, name: string, signal?: AbortSignal) {
  const config = loadConfig(env, SETTINGS)
  const password = takeMasterPassword(config, env)
  const log = createLog(name, config.LOG_LEVEL)
  const { db, pool, close } = connectDb(config.DATABASE_URL, { max: 16, name: `muster-${name}`, relations })
  if (signal) await awaitDatabase(db, log, signal)
  const [queue, vault] = await Promise.all([
    createQueue(config.DATABASE_URL, log, 'sender', queues),
    openVault(db, password, config.CREDENTIAL_KEY_VERSION),
  ])
  const notifier = createNotifier(config.DATABASE_URL, log)
  const runtime: Runtime = { db, queue, vault, log, notify: (changeEvent) => notifier.notify(changeEvent) }
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
