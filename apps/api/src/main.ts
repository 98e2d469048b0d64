import { accessSettings, tokenSettings } from '@muster/core/access'
import { deriveLinkSecret } from '@muster/core/artifacts'
import { bootServiceSettings } from '@muster/core/boot-service'
import { loadConfig, pickSettings, unsupportedSettings } from '@muster/core/config'
import { createListener } from '@muster/core/events'
import { reasonOf } from '@muster/core/log'
import { readMetricsToken } from '@muster/core/metrics-access'
import { openchamiSettings } from '@muster/core/openchami'
import { outboundSettings } from '@muster/core/outbound'
import { readProxySecret } from '@muster/core/proxy-secret'
import { createApi } from './api.ts'
import { bootConfigOf, bootUrlsOf } from './http/boot/config.ts'
import { serveBoot } from './http/boot/server.ts'
import { serveMetrics } from './http/metrics-server.ts'
import { serveHttp } from './http/server.ts'
import { openRuntime } from './runtime.ts'
import { createAuth } from './sign-in/auth.ts'

/** More than the HTTP server waits for running operations. */
const STOP_MS = 30_000

/** Runs the API process until SIGTERM or SIGINT. A second signal exits immediately. */
async function main(): Promise<void> {
  const shutdown = new AbortController()
  const stopRequested = new Promise<void>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.on(name, () => {
        if (shutdown.signal.aborted) process.exit(1)
        shutdown.abort()
        resolve()
      })
  })
  const config = loadConfig(process.env, {
    ...pickSettings(
      accessSettings,
      'HOST',
      'PORT',
      'METRICS_HOST',
      'METRICS_PORT',
      'METRICS_TOKEN_FILE',
      'TRUST_PROXY',
      'PROXY_SECRET_FILE',
      'CORS_ORIGINS',
      'SESSION_IDLE_HOURS',
      'SESSION_MAX_DAYS',
    ),
    ...outboundSettings,
    ...openchamiSettings,
    ...tokenSettings,
    ...bootServiceSettings,
    ...pickSettings(accessSettings, 'MUSTER_TENANT_NAME'),
  })
  const {
    HOST,
    PORT,
    METRICS_HOST,
    METRICS_PORT,
    METRICS_TOKEN_FILE,
    TRUST_PROXY,
    PROXY_SECRET_FILE,
    CORS_ORIGINS,
    SESSION_IDLE_HOURS,
    SESSION_MAX_DAYS,
    LOCAL_TARGETS,
  } = config
  const bootConfig = bootConfigOf(config, config.MUSTER_TENANT_NAME)
  const bootUrls = bootUrlsOf(config, config.MUSTER_TENANT_NAME)
  const openedRuntime = await openRuntime(process.env, 'api', shutdown.signal).catch((error: unknown) => {
    if (!shutdown.signal.aborted) throw error
    return null
  })
  if (!openedRuntime) return
  const { runtime, store, systemChecks, connections, databaseUrl, publicUrl, authSecret, close } = openedRuntime
  for (const line of unsupportedSettings(process.env)) runtime.log.warn(line)
  const listener = await createListener(databaseUrl, runtime.log)
  const { mailer, oidc, ldap } = connections()
  const auth = createAuth({
    db: runtime.db,
    secret: authSecret,
    publicUrl,
    log: runtime.log,
    listener,
    mailer,
    oidc,
    ldap,
    sessions: { idleHours: SESSION_IDLE_HOURS, maxDays: SESSION_MAX_DAYS },
  })
  const isDevelopment = process.env.NODE_ENV === 'development'
  const api = createApi({
    runtime,
    listener,
    auth,
    store,
    linkSecret: deriveLinkSecret(authSecret),
    publicUrl,
    localTargets: LOCAL_TARGETS,
    mailer,
    tokenPolicy: { maxDays: config.API_TOKEN_MAX_DAYS },
    openchami: config.OPENCHAMI_API === '1' ? { publicTenant: config.OPENCHAMI_PUBLIC_TENANT ?? null } : null,
    corsOrigins: CORS_ORIGINS,
    isDevelopment,
    systemChecks,
    labFile: process.env.MUSTER_LAB_FILE,
    bootUrls,
  })
  const trustedProxy = TRUST_PROXY === '1' ? { secret: PROXY_SECRET_FILE ? readProxySecret(PROXY_SECRET_FILE) : null } : null
  const server = await serveHttp(api, { host: HOST, port: PORT, trustedProxy })
  runtime.log.info({ host: HOST, port: server.port }, 'API listening')
  const token = readMetricsToken(METRICS_TOKEN_FILE)
  const metrics =
    METRICS_PORT === undefined ? null : await serveMetrics(api.metrics, { host: METRICS_HOST, port: METRICS_PORT, token })
  if (metrics) runtime.log.info({ host: METRICS_HOST, port: metrics.port }, 'serving metrics')
  const boot = bootConfig && (await serveBoot(api, bootConfig, bootUrls))
  if (boot) runtime.log.info({ host: config.BOOT_HOST, port: boot.port, tlsPort: boot.tlsPort }, 'boot service listening')
  await stopRequested
  let waitingFor = ''
  setTimeout(() => {
    runtime.log.error({ waitingFor }, 'the API did not stop in time')
    process.exit(1)
  }, STOP_MS).unref()
  const parts = {
    boot: () => boot?.stop(),
    metrics: () => metrics?.stop(),
    server: () => server.stop(),
    listener: () => listener.close(),
    runtime: close,
  }
  for (const [name, stop] of Object.entries(parts)) {
    waitingFor = name
    await stop()
  }
  runtime.log.info('API stopped')
}

try {
  await main()
  process.exit(0)
} catch (error) {
  process.stderr.write(`The API cannot start. ${reasonOf(error)}\n`)
  process.exit(1)
}
