import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { readProxySecret } from '@muster/core/proxy-secret'
import { roleUrls } from '@muster/core/role-urls'
import { backUpBeforeUpgrade } from './backup/back-up-before-upgrade.ts'
import { buildConsole } from './build-console.ts'
import { SECRET_FD } from './node-child.ts'
import { pickPort } from './ports.ts'
import { checkDatabase } from './postgres/external-postgres.ts'
import { prepareDatabase } from './prepare-database.ts'
import { step } from './print.ts'
import { productEnvironment } from './product-environment.ts'
import { runOnce } from './run-once.ts'
import type { Settings } from './settings.ts'
import type { ChildSpec, Supervisor } from './supervisor.ts'
import type { CertificateFiles } from './tls/certificate.ts'

/** Output of first-start.ts. `signInLink` works once and is null when the owner has a way to sign in. */
export type FirstStart = { created: boolean; email: string; signInLink: string | null }
/** Port of the boot service of `--boot`, when BOOT_PORT is not set. */
const DEFAULT_BOOT_PORT = '8080'

/** Machines that boot from the network with `--lab` and `--boot`. */
const LAB_MACHINES = 2

type RegisteredLab = { nodesToAdd: number; machines?: { count: number; manifests: string } }
/**
 * `lab`: how many nodes are not added yet, and the manifests of machines that boot from the network; null without a lab. `isolation` is
 * the worker's, in one line.
 */
export type BootResult = FirstStart & { lab: RegisteredLab | null; isolation: string }

export type Boot = {
  settings: Settings
  publicUrl: string
  /** Certificate of the console; null: plain HTTP. */
  tls: CertificateFiles | null
  supervisor: Supervisor
  /** Releases the reserved console port just before the console binds it. */
  releasePort: () => Promise<void>
  /** Starts the embedded Postgres and resolves with its URL. Not called when DATABASE_URL is set. */
  startPostgres: () => Promise<string>
  signal: AbortSignal
}

/**
 * Starts everything, in parallel where possible: the console builds and the lab starts while Postgres starts and migrates.
 * Rejects on the first failure; the caller stops what has started.
 */
export async function boot({
  settings,
  publicUrl,
  tls,
  supervisor,
  releasePort,
  startPostgres,
  signal,
}: Boot): Promise<BootResult> {
  const { dataDir, watch } = settings
  // `node --watch` does not pass file descriptors on, so development uses the environment.
  const { masterPassword } = settings
  const secret = watch ? undefined : masterPassword
  const proxySecretFile = settings.proxySecretFile ?? createProxySecret(dataDir)
  readProxySecret(proxySecretFile)
  const labFile = path.join(dataDir, 'lab.json')
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: watch ? 'development' : 'production',
    ...productEnvironment(settings, publicUrl),
    ...(watch ? { CREDENTIAL_MASTER_PASSWORD: masterPassword } : {}),
    ...(secret === undefined ? {} : { CREDENTIAL_MASTER_PASSWORD_FD: String(SECRET_FD) }),
    ...(settings.lab ? { MUSTER_LAB_FILE: labFile } : {}),
  }
  const run = (script: string, more: NodeJS.ProcessEnv = {}) => runOnce(script, { ...env, ...more }, { signal, secret })

  const built = watch ? Promise.resolve() : step('Build the console', () => buildConsole(signal))
  const lab = settings.lab
    ? step(`Start ${settings.lab} lab nodes`, () => supervisor.start(labChild(settings, labFile, env))).then(() => {
        if (settings.boot) Object.assign(env, bootServiceOf(labFile, env))
      })
    : undefined

  const database = (async () => {
    const { databaseUrl, databaseAppUrl, databaseSystemUrl } = settings
    const owner = databaseUrl
      ? await step('Check the database in DATABASE_URL', () => checkDatabase(databaseUrl).then(() => databaseUrl))
      : await step('Start Postgres', startPostgres)
    const given = databaseUrl ? { DATABASE_APP_URL: databaseAppUrl, DATABASE_SYSTEM_URL: databaseSystemUrl } : {}
    const roles = roleUrls({ DATABASE_URL: owner, ...given })
    Object.assign(env, { DATABASE_APP_URL: roles.app, DATABASE_SYSTEM_URL: roles.system })
    const embedded = databaseUrl ? {} : { EMBEDDED_POSTGRES_DIR: dataDir }
    await prepareDatabase(owner, roles, {
      backUp: () => step('Back up before the upgrade', () => backUpBeforeUpgrade(settings, owner)),
      migrate: () =>
        step('Migrate the database', () => run('packages/core/src/kernel/db/migrate.ts', { DATABASE_URL: owner, ...embedded })),
    })
    // Only migrations and backups need the owner.
    delete env.DATABASE_URL
    delete env.DATABASE_URL_FILE
  })()

  const firstStart = database.then(async () => {
    return parseLastLine<FirstStart>(await step('Create the owner if missing', () => run('apps/api/src/first-start.ts')))
  })

  const servers = database.then(async () => {
    if (settings.boot) await lab
    const node = watch ? ['--watch', '--watch-preserve-output'] : []
    const [apiPort, workerPort] = [await pickPort(), await pickPort()]
    const api: ChildSpec = {
      name: 'api',
      argv: [...node, 'apps/api/src/main.ts'],
      // Playbooks reach its port, too: it trusts only the console, by a secret that they cannot read.
      env: {
        ...env,
        ...(settings.boot ? { BOOT_PORT: env.BOOT_PORT || DEFAULT_BOOT_PORT } : {}),
        ...{ HOST: '127.0.0.1', PORT: String(apiPort), TRUST_PROXY: '1', PROXY_SECRET_FILE: proxySecretFile },
      },
      secret,
      ready: () => isReady(`http://127.0.0.1:${apiPort}/readyz`),
    }
    const worker: ChildSpec = {
      name: 'worker',
      argv: [...node, 'apps/worker/src/main.ts'],
      env: { ...env, HOST: '127.0.0.1', WORKER_PORT: String(workerPort) },
      secret,
      ready: () => isReady(`http://127.0.0.1:${workerPort}/readyz`),
    }
    const consoleServer: ChildSpec = {
      name: 'console',
      argv: ['apps/standalone/src/serve-console.ts'],
      env: {
        ...withoutSecrets(env),
        HOST: settings.host,
        PORT: String(settings.port),
        API_URL: `http://127.0.0.1:${apiPort}`,
        TRUST_PROXY: settings.trustProxy ? '1' : '0',
        PROXY_SECRET_FILE: proxySecretFile,
        ...(tls ? { TLS_CERT_FILE: tls.certFile, TLS_KEY_FILE: tls.keyFile } : {}),
        ...(watch ? { CONSOLE_DEV: '1' } : {}),
      },
      ready: () =>
        isReady(`http${tls ? 's' : ''}://${settings.host === '0.0.0.0' ? '127.0.0.1' : settings.host}:${settings.port}/sign-in`),
    }
    await Promise.all([
      step('Start the API', () => supervisor.start(api)),
      step('Start the worker', () => supervisor.start(worker)),
      built.then(releasePort).then(() => step('Start the console', () => supervisor.start(consoleServer))),
    ])
    return (await get(`http://127.0.0.1:${workerPort}/readyz`))?.body.split('\n')[1] ?? ''
  })
  // The lab's credentials are created in the owner's tenant.
  const registered = Promise.all([lab, firstStart]).then(async () =>
    lab ? parseLastLine<RegisteredLab>(await step('Register the lab', () => run('apps/api/src/register-lab.ts'))) : null,
  )

  const [owner, labResult, isolation] = await Promise.all([firstStart, registered, servers, built, lab])
  return { ...owner, lab: labResult, isolation }
}

/** Creates a new secret at each start; the API trusts forwarded addresses in requests that contain it. @returns its file */
function createProxySecret(dataDir: string): string {
  const file = path.join(dataDir, 'proxy-secret')
  fs.rmSync(file, { force: true })
  fs.writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 })
  return file
}

/** Parses the last line of a program's stdout as JSON. */
function parseLastLine<T>(stdout: string): T {
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as T
}

/**
 * Lets the boot service serve the network of the lab, unless it is configured otherwise. Nobody else is in that network, so tokens need no
 * TLS. Files and BMCs of machines are on this machine.
 */
function bootServiceOf(labFile: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { boot } = JSON.parse(fs.readFileSync(labFile, 'utf8')) as { boot: { hostAddress: string } | null }
  if (!boot || env.BOOT_HOST) return {}
  const { LOCAL_TARGETS } = env
  return {
    BOOT_HOST: boot.hostAddress,
    BOOT_PORT: env.BOOT_PORT || DEFAULT_BOOT_PORT,
    BOOT_TOKENS_WITHOUT_TLS: '1',
    LOCAL_TARGETS: LOCAL_TARGETS ? `${LOCAL_TARGETS},${boot.hostAddress}` : boot.hostAddress,
  }
}

/** The lab prints one JSON line with its nodes and their credentials. It goes to a private file, never to the log. */
function labChild({ lab, slurm, boot, dataDir }: Settings, labFile: string, env: NodeJS.ProcessEnv): ChildSpec {
  // Nodes of an earlier start stay reachable, with their approved host keys.
  const identityFile = path.join(dataDir, 'lab-identity.json')
  // register-lab.ts writes it.
  const dhcpFile = path.join(dataDir, 'lab-dnsmasq.conf')
  let isUp = false
  for (const file of [labFile, dhcpFile]) fs.rmSync(file, { force: true })
  return {
    name: 'lab',
    argv: [
      'packages/lab/src/main.ts',
      'up',
      String(lab),
      ...(slurm ? ['--slurm'] : []),
      '--foreground',
      '--identity',
      identityFile,
      ...(boot ? ['--machines', String(LAB_MACHINES), '--dhcp-config', dhcpFile] : []),
    ],
    env: withoutSecrets(env),
    ready: () => isUp,
    onLine: (line) => {
      if (!line.startsWith('{')) return
      fs.writeFileSync(`${labFile}.new`, line, { mode: 0o600 })
      fs.renameSync(`${labFile}.new`, labFile)
      isUp = true
    },
  }
}

/** Environment for children that need neither the database nor credentials. */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isSecret = /^(DATABASE_(APP_|SYSTEM_)?URL|CREDENTIAL_MASTER_PASSWORD(_\w+)?|AUTH_SECRET|S3_\w+|MUSTER_CONFIG)$/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecret.test(name)))
}

const isReady = async (url: string): Promise<boolean> => (await get(url))?.status === 200

/**
 * The certificate is not verified: it is for the public name, and the request only asks whether the server on this machine is up.
 * Uses node:http, because loading fetch would take most of the CPU time of this process.
 */
function get(url: string): Promise<{ status: number; body: string } | null> {
  return new Promise((resolve) => {
    const { get } = url.startsWith('https:') ? https : http
    const request = get(url, { timeout: 5_000, agent: false, rejectUnauthorized: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => (body = (body + text).slice(0, 4096)))
      response.on('close', () => resolve({ status: response.statusCode!, body }))
    })
    request.once('error', () => resolve(null)).once('timeout', () => request.destroy())
  })
}
