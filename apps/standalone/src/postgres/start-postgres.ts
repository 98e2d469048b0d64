import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { pickPort } from '../ports.ts'
import { waitFor } from '../wait.ts'
import { chooseUser, findBinaries, type RunAs, reachableBinaries } from './binaries.ts'
import { initDataDir } from './init-data-dir.ts'
import { spawnOnData } from './spawn-on-data.ts'
import { stopOrphan } from './stop-orphan.ts'

export type StartPostgres = {
  /** Folder with `data/` (the cluster) and `password` (mode 0600). Created when missing. */
  dir: string
  /** Default: any free port, chosen at each start. */
  port?: number
  /** Server settings, passed as `-c name=value`. */
  settings?: Record<string, string>
  /** False creates the cluster without fsync, for temporary servers. */
  durable?: boolean
  /** Receives the server's log. */
  onLog?: (chunk: Buffer) => void
  /** Folder with bin/ of another Postgres than the embedded one. */
  native?: string
}

export type RunningPostgres = {
  /** postgres://muster:…@127.0.0.1:PORT/muster; the user is a superuser. */
  url: string
  pid: number
  /** Resolves when the server has exited for any reason. */
  exited: Promise<void>
  /** Fast shutdown; resolves when all processes have exited. Idempotent. */
  stop: () => Promise<void>
}

/**
 * Starts the embedded Postgres on 127.0.0.1; creates the cluster and the database `muster` when missing.
 * Stops an orphaned server on the same data first. Throws with the last lines of the server's log.
 */
export async function startPostgres({
  dir,
  port,
  settings = {},
  durable = true,
  onLog,
  native: other,
}: StartPostgres): Promise<RunningPostgres> {
  const data = path.join(dir, 'data')
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  const runAs = chooseUser(data)
  const native = other ?? reachableBinaries(findBinaries(), runAs)
  await stopOrphan(data)
  const passwordFile = path.join(dir, 'password')
  if (!fs.existsSync(path.join(data, 'PG_VERSION'))) {
    fs.writeFileSync(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 })
    await initDataDir({ native, data, runAs, password: fs.readFileSync(passwordFile, 'utf8'), durable })
  }
  const password = fs.readFileSync(passwordFile, 'utf8').trim()
  for (let attempt = 1; ; attempt++) {
    const listenPort = port ?? (await pickPort())
    const server = launch({ native, data, runAs, port: listenPort, settings, onLog })
    const ready = await server.ready
    if (ready) {
      const url = (database: string) => `postgres://muster:${password}@127.0.0.1:${listenPort}/${database}`
      await ensureDatabase(url('postgres')).catch(async (error) => {
        await server.stop()
        throw error
      })
      return { url: url('muster'), pid: server.pid, exited: server.exited, stop: server.stop }
    }
    await server.stop()
    const portTaken = /could not bind|Address already in use/.test(server.log())
    if (portTaken && port === undefined && attempt < 5) continue
    throw new Error(`Postgres did not start on port ${listenPort}. Last lines of its log:\n${server.log()}`)
  }
}

type Launch = {
  native: string
  data: string
  runAs: RunAs
  port: number
  settings: Record<string, string>
  onLog?: (chunk: Buffer) => void
}

function launch({ native, data, runAs, port, settings, onLog }: Launch) {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    log_checkpoints: 'off',
    ...settings,
  }
  const child = spawnOnData(path.join(native, 'bin/postgres'), data, runAs, (dataDir) => [
    '-D',
    dataDir,
    '-p',
    String(port),
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ])
  let log = ''
  const record = (chunk: Buffer) => {
    log = (log + chunk).slice(-2000)
    onLog?.(chunk)
  }
  child.stdout?.on('data', record)
  child.stderr?.on('data', record)
  let ended = false
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      record(Buffer.from(`${error.message}\n`))
      ended = true
      resolve()
    })
    child.once('close', () => {
      ended = true
      resolve()
    })
  })
  const isReady = () => ended || acceptsConnections(data, child.pid)
  const ready = waitFor(isReady, 60_000, 5).then((found) => Boolean(found) && !ended)
  const stop = async () => {
    // Fast shutdown, immediate shutdown, kill. Backends exit with the postmaster.
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      if (ended) return
      child.kill(signal)
      await waitFor(() => ended, signal === 'SIGINT' ? 15_000 : 3_000, 5)
    }
    await exited
  }
  return { pid: child.pid ?? -1, ready, exited, stop, log: () => log.trim() }
}

/** postmaster.pid holds the pid on line 1 and the status on line 8. */
function acceptsConnections(data: string, pid: number | undefined): boolean {
  try {
    const lines = fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
  } catch {
    return false
  }
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query("select from pg_database where datname = 'muster'")
    if (!rowCount) await client.query('create database muster')
  } finally {
    await client.end()
  }
}
