import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { migrateDb } from '@muster/core/db'
import { nodeEnvironment } from '@muster/core/testing'
import { pickPort, startTestPostgres } from '@muster/standalone'
import { childrenOf, cpuSeconds } from './cpu.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const READY_MS = 180_000

type Process = 'api' | 'second-api' | 'worker'

export type Product = {
  /** URL of the API. */
  url: string
  /** URL of the second API process, once it is started. */
  secondUrl: string
  databaseUrl: string
  /** One-time token for signInWithLink. */
  linkToken: string
  /** Folder of all its files; part of the command lines of its processes. */
  dir: string
  pid(process: Process): number
  /** CPU seconds of its processes. */
  cpu(): { api: number; worker: number; postgres: number }
  /** Kills one process with SIGKILL. */
  kill(process: Process): Promise<void>
  /** Starts a process, with further settings, and waits until it is ready. */
  start(process: Process, env?: Record<string, string>): Promise<void>
  /** Kills its Postgres and starts it again. */
  crashPostgres(): Promise<void>
  /** URL of the metrics of an API process. */
  metricsUrl(process: 'api' | 'second-api'): string
  /** Processes that exited unexpectedly. */
  failed: readonly string[]
  stop(): Promise<void>
}

/**
 * Starts the product without the console: its own Postgres, the API and one worker as processes on free ports.
 * @param env further settings, by the names in config.ts; PORT is that of the API
 * @param postgresSettings further settings of postgresql.conf
 */
export async function startProduct(
  env: Record<string, string> = {},
  postgresSettings: Record<string, string> = {},
): Promise<Product> {
  // A short path: Unix socket paths are limited to 108 bytes.
  const dir = mkdtempSync(join(tmpdir(), 'mu-'))
  const postgres = await startTestPostgres({ settings: postgresSettings })
  const ports = { api: Number(env.PORT) || (await pickPort()), 'second-api': await pickPort(), worker: await pickPort() }
  const metricsPorts = { api: await pickPort(), 'second-api': await pickPort(), worker: 0 }
  const urlOf = (name: Process) => `http://127.0.0.1:${ports[name]}`
  const url = urlOf('api')
  writeFileSync(join(dir, 'master-password'), 'a password for one benchmark\n', { mode: 0o600 })
  const settings = {
    ...nodeEnvironment,
    // Same as `npm start` and the container image.
    NODE_ENV: 'production',
    HOME: dir,
    DATABASE_URL: postgres.url,
    WORKER_PORT: String(ports.worker),
    MUSTER_PUBLIC_URL: url,
    MUSTER_DATA_DIR: dir,
    CREDENTIAL_MASTER_PASSWORD_FILE: join(dir, 'master-password'),
    ANSIBLE_WORK_DIR: join(dir, 'runs'),
    ARTIFACT_DIR: join(dir, 'artifacts'),
    ...(process.env.ANSIBLE_PLAYBOOK ? { ANSIBLE_PLAYBOOK: process.env.ANSIBLE_PLAYBOOK } : {}),
    ...env,
  }
  const children = new Map<string, ChildProcess>()
  const failed: string[] = []
  // Also when the caller ends with an uncaught error.
  process.once('exit', () => children.forEach((child) => void child.kill('SIGKILL')))
  const start = async (name: Process, more: Record<string, string> = {}) => {
    const log = openSync(join(dir, `${name}.log`), 'a')
    const child = spawn(process.execPath, [join(ROOT, `apps/${name === 'worker' ? name : 'api'}/src/main.ts`)], {
      cwd: ROOT,
      env: { ...settings, PORT: String(ports[name]), METRICS_PORT: String(metricsPorts[name]), ...more },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    children.set(name, child)
    child.once('exit', () => children.get(name) === child && failed.push(name))
    await ready(`${urlOf(name)}/readyz`, child, join(dir, `${name}.log`))
  }
  const end = async (name: string, signal: NodeJS.Signals) => {
    const child = children.get(name)
    children.delete(name)
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }
  const stop = async () => {
    await Promise.all([...children.keys()].map((name) => end(name, 'SIGTERM')))
    await postgres.stop()
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    await migrateDb(postgres.url)
    const first = JSON.parse(await runNode('apps/api/src/first-start.ts', settings)) as { signInLink: string }
    await Promise.all([start('api'), start('worker')])
    const linkToken = first.signInLink.split('#token=')[1]!
    const { crash: crashPostgres } = postgres
    return {
      url,
      secondUrl: urlOf('second-api'),
      metricsUrl: (name) => `http://127.0.0.1:${metricsPorts[name]}/metrics`,
      databaseUrl: postgres.url,
      linkToken,
      dir,
      pid: (name) => children.get(name)?.pid ?? -1,
      cpu: () => ({
        api: cpuSeconds([children.get('api')?.pid ?? -1]),
        worker: cpuSeconds([children.get('worker')?.pid ?? -1]),
        postgres: cpuSeconds([postgres.pid, ...childrenOf(postgres.pid)]),
      }),
      kill: (name) => end(name, 'SIGKILL'),
      start,
      crashPostgres,
      failed,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function runNode(script: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, script)], { cwd: ROOT, env })
  return stdout.trim().split('\n').at(-1) ?? ''
}

async function ready(url: string, child: ChildProcess, log: string): Promise<void> {
  const deadline = Date.now() + READY_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null)
      throw new Error(`${child.spawnargs[1]} ended with ${child.exitCode}:\n${readFileSync(log, 'utf8').slice(-2000)}`)
    if (
      await fetch(url).then(
        (r) => r.ok,
        () => false,
      )
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`${url} was not ready after ${READY_MS / 1000} s:\n${readFileSync(log, 'utf8').slice(-2000)}`)
}
