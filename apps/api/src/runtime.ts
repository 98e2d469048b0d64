import { accessSettings, ldapSettings, mailSettings, oidcSettings } from '@muster/core/access'
import { artifactStoreSettings, openArtifactStore } from '@muster/core/artifacts'
import { loadConfig, pickSettings, processSettings } from '@muster/core/config'
import { credentialKeySettings, masterPasswordSettings, openVault, takeMasterPassword } from '@muster/core/credentials'
import { awaitDatabase, connectDb, connectTenants, roleUrls } from '@muster/core/db'
import { createNotifier } from '@muster/core/events'
import { createLog } from '@muster/core/log'
import { outboundSettings } from '@muster/core/outbound'
import { createQueue } from '@muster/core/queue'
import type { Runtime } from '@muster/core/registry'
import { queues, relations } from '@muster/core/registry'
import { createMailer } from './mail/mailer.ts'
import { deriveAuthSecret } from './sign-in/auth.ts'
import { createLdap } from './sign-in/ldap.ts'
import { createOidc } from './sign-in/oidc.ts'
import { systemChecksOf } from './system-checks.ts'

const SETTINGS = {
  ...processSettings,
  ...masterPasswordSettings,
  ...credentialKeySettings,
  ...artifactStoreSettings,
  ...mailSettings,
  ...ldapSettings,
  ...oidcSettings,
  ...outboundSettings,
  ...pickSettings(accessSettings, 'AUTH_SECRET', 'MUSTER_PUBLIC_URL', 'MUSTER_TENANT_NAME'),
}

/**
 * Opens the database, queue and vault for a program of this folder, from its environment.
 * @param name program name for logs and `application_name`
 * @param signal when given, waits for a database that is unreachable or has no tables, until the signal fires
 * @throws Error for invalid configuration, an unreachable database (without `signal`), or a master password that does not match the
 *   stored credentials
 */
export async function openRuntime(env: NodeJS.ProcessEnv, name: string, signal?: AbortSignal) {
  const config = loadConfig(env, SETTINGS)
  const password = takeMasterPassword(config, env)
  const log = createLog(name, config.LOG_LEVEL)
  const urls = roleUrls(config)
  const statementTimeoutMs = config.DATABASE_STATEMENT_TIMEOUT * 1000
  const { db, close } = connectDb(urls.system, { max: 8, name: `muster-${name}`, relations, statementTimeoutMs })
  const app = connectTenants(urls.app, {
    max: 16,
    name: `muster-${name}-app`,
    relations,
    statementTimeoutMs,
  })
  if (signal) await awaitDatabase(db, log, signal)
  const [queue, vault] = await Promise.all([
    createQueue(urls.system, log, 'sender', queues),
    openVault(db, password, config.CREDENTIAL_KEY_VERSION),
  ])
  const notifier = createNotifier(urls.system, log)
  const runtime: Runtime = {
    db,
    tenantDb: app.tenantDb,
    queue,
    vault,
    log,
    notify: (changeEvent) => notifier.notify(changeEvent),
  }
  const store = openArtifactStore(config)
  const { MUSTER_PUBLIC_URL: publicUrl, MUSTER_TENANT_NAME: defaultTenant } = config
  /** Mail and sign-in. Programs that need neither run without the files of their secrets. */
  const connections = () => ({
    mailer: createMailer(config, publicUrl),
    oidc: createOidc(config, { publicUrl, defaultTenant, localTargets: config.LOCAL_TARGETS }),
    ldap: createLdap(config, { defaultTenant, localTargets: config.LOCAL_TARGETS }),
  })
  return {
    runtime,
    store,
    systemChecks: systemChecksOf(config, { runtime, store, connections }, env),
    databaseUrl: urls.system,
    connections,
    publicUrl,
    authSecret: config.AUTH_SECRET ?? deriveAuthSecret(password),
    async close() {
      await queue.close()
      await notifier.close()
      await app.close()
      await close()
    },
  }
}
