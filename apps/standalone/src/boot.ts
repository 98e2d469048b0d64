import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { buildConsole } from './build-console.ts'
import { checkDatabase } from './external-postgres.ts'
import { SECRET_FD } from './node-arguments.ts'
import { pickPort } from './ports.ts'
import { root } from './root.ts'
import { runOnce } from './run-once.ts'
import { step } from './say.ts'
import type { Settings } from './settings.ts'
import type { ChildSpec, Supervisor } from './supervisor.ts'

/** What the first-start program says: whether it made the owner just now, and a link that works once while no password is set. */
export type FirstStart = { created: boolean; email: string; signInLink: string | null }
/** The same, and how many nodes of the lab wait to be added; none without a lab. */
export type Up = FirstStart & { labWaiting: number }

export type Boot = {
  settings: Settings
  publicUrl: string
  supervisor: Supervisor
  /** Gives the console's port free for the console. */
  releasePort: () => Promise<void>
  /** Starts the embedded Postgres and resolves with its URL. Not called when there is a DATABASE_URL. */
  startPostgres: () => Promise<string>
  signal: AbortSignal
}

/**
 * Bring everything up, as much at once as possible: the console builds and the lab comes up while Postgres starts and migrates.
 * Rejects at the first failure; what has started by then is the caller's to stop.
 */
export async function boot({ settings, publicUrl, supervisor, releasePort, startPostgres, signal }: Boot): Promise<Up> {
  const { dataDir, watch } = settings
  // `node --watch` hands no descriptors on: in development the environment has to do.
  const { masterPassword } = settings
  const secret = watch ? undefined : masterPassword
  const labFile = path.join(dataDir, 'lab.json')
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: watch ? 'development' : 'production',
    ...process.env,
    MUSTER_DATA_DIR: dataDir,
    MUSTER_PUBLIC_URL: publicUrl,
    ANSIBLE_WORK_DIR: process.env.ANSIBLE_WORK_DIR || path.join(dataDir, 'ansible'),
    ARTIFACT_DIR: process.env.ARTIFACT_DIR || path.join(dataDir, 'artifacts'),
    ANSIBLE_PLAYBOOK_REPO_PATH: process.env.ANSIBLE_PLAYBOOK_REPO_PATH || path.join(root, 'playbooks'),
    ...(watch ? { CREDENTIAL_MASTER_PASSWORD: masterPassword } : {}),
    ...(secret === undefined ? {} : { CREDENTIAL_MASTER_PASSWORD_FD: String(SECRET_FD) }),
    ...(settings.hasMasterPassword ? {} : { CREDENTIAL_MASTER_PASSWORD_FILE: masterPasswordFile(dataDir) }),
    ...(settings.lab ? { MUSTER_LAB_FILE: labFile } : {}),
  }
  const once = (script: string) => runOnce(script, env, { signal, secret })

  const built = watch ? Promise.resolve() : step('Build the console', () => buildConsole(signal))
  const lab = settings.lab
    ? step(`Bring up ${settings.lab} lab nodes`, () => supervisor.start(labChild(settings.lab, labFile, env)))
    : undefined

  const database = (async () => {
    env.DATABASE_URL = settings.databaseUrl
      ? await step('Check the database of DATABASE_URL', () =>
          checkDatabase(settings.databaseUrl!).then(() => settings.databaseUrl),
        )
      : await step('Start Postgres', startPostgres)
    await step('Migrate the database', () => once('packages/core/src/db/migrate.ts'))
  })()

  const firstStart = database.then(async () => {
    return answerOf<FirstStart>(await step('Look for an owner', () => once('apps/api/src/first-start.ts')))
  })

  const servers = database.then(async () => {
    const node = watch ? ['--watch', '--watch-preserve-output'] : []
    const [apiPort, workerPort] = [await pickPort(), await pickPort()]
    const api: ChildSpec = {
      name: 'api',
      argv: [...node, 'apps/api/src/main.ts'],
      env: { ...env, HOST: '127.0.0.1', PORT: String(apiPort) },
      secret,
      ready: () => answers(`http://127.0.0.1:${apiPort}/readyz`),
    }
    const worker: ChildSpec = {
      name: 'worker',
      argv: [...node, 'apps/worker/src/main.ts'],
      env: { ...env, HOST: '127.0.0.1', WORKER_PORT: String(workerPort) },
      secret,
      ready: () => answers(`http://127.0.0.1:${workerPort}/readyz`),
    }
    const front: ChildSpec = {
      name: 'console',
      argv: ['apps/standalone/src/front.ts'],
      env: {
        ...withoutSecrets(env),
        HOST: settings.host,
        PORT: String(settings.port),
        API_URL: `http://127.0.0.1:${apiPort}`,
        ...(watch ? { CONSOLE_DEV: '1' } : {}),
      },
      ready: () => answers(`http://${settings.host === '0.0.0.0' ? '127.0.0.1' : settings.host}:${settings.port}/sign-in`),
    }
    await Promise.all([
      step('Start the API', () => supervisor.start(api)),
      step('Start the worker', () => supervisor.start(worker)),
      built.then(releasePort).then(() => step('Start the console', () => supervisor.start(front))),
    ])
  })
  // Credentials are prepared in the owner's tenant.
  const offered = Promise.all([lab, firstStart]).then(async () =>
    lab ? answerOf<{ waiting: number }>(await step('Offer the lab', () => once('apps/api/src/offer-lab.ts'))).waiting : 0,
  )

  const [first, labWaiting] = await Promise.all([firstStart, offered, servers, built, lab])
  return { ...first, labWaiting }
}

/** The last line of what a program said. */
function answerOf<T>(said: string): T {
  return JSON.parse(said.trim().split('\n').at(-1)!) as T
}

/** The lab's first line describes its nodes and holds their credentials, so it goes to a private file and never to the log. */
function labChild(nodes: number, labFile: string, env: NodeJS.ProcessEnv): ChildSpec {
  let up = false
  fs.rmSync(labFile, { force: true })
  return {
    name: 'lab',
    argv: ['packages/lab/src/main.ts', 'up', String(nodes), '--foreground'],
    env: withoutSecrets(env),
    ready: () => up,
    onLine: (line) => {
      if (!line.startsWith('{')) return
      fs.writeFileSync(`${labFile}.new`, line, { mode: 0o600 })
      fs.renameSync(`${labFile}.new`, labFile)
      up = true
    },
  }
}

/** Made once per data directory; whoever has it and the database can read every credential. */
function masterPasswordFile(dataDir: string): string {
  const file = path.join(dataDir, 'master-password')
  if (!fs.existsSync(file)) fs.writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  return file
}

/** For children that have no business with the database or with credentials. */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isSecret = /^(DATABASE_URL|CREDENTIAL_MASTER_PASSWORD(_\w+)?|AUTH_SECRET|S3_\w+|MUSTER_CONFIG)$/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecret.test(name)))
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: 'manual' })
    await response.body?.cancel()
    return response.status === 200
  } catch {
    return false
  }
}
