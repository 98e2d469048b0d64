import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { pickPort } from './ports.ts'
import { chooseUser, findBinaries, type RunAs, reachableBinaries } from './postgres-binaries.ts'
import { initDataDir } from './postgres-init.ts'
import { stopOrphan } from './postgres-orphan.ts'
import { spawnOnData } from './postgres-spawn.ts'
import { waitFor } from './wait.ts'

export type StartPostgres = {
  /** Our folder: `data/` (Postgres' own) and `password` (0600). Made when missing. */
  dir: string
  /** Default: any free one, a new one at each start. */
  port?: number
  /** Server settings, passed as `-c name=value`. */
  settings?: Record<string, string>
  /** False writes the new cluster without fsync: for throw-away ones. */
  durable?: boolean
  /** Gets the server's log as it comes. */
  onLog?: (chunk: Buffer) => void
}

export type RunningPostgres = {
  /** postgres://muster:…@127.0.0.1:PORT/muster; the user is a superuser. */
  url: string
  pid: number
  /** Resolves when the server has ended, for whatever reason. */
  exited: Promise<void>
  /** Fast shutdown; resolves when no process is left. Safe to call twice. */
  stop: () => Promise<void>
}

/**
 * Start the Postgres that came with npm on 127.0.0.1, making the cluster and the database `muster` first when there are none.
 * A server that an earlier owner left behind on the same data is shut down before. Throws with the end of the server's log.
 */
export async function startPostgres({
  dir,
  port,
  settings = {},
  durable = true,
  onLog,
}: StartPostgres): Promise<RunningPostgres> {
  const data = path.join(dir, 'data')
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  const runAs = chooseUser(data)
  const native = reachableBinaries(findBinaries(), runAs)
  await stopOrphan(data)
  const passwordFile = path.join(dir, 'password')
  if (!fs.existsSync(path.join(data, 'PG_VERSION'))) {
    fs.writeFileSync(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 })
    await initDataDir({ native, data, runAs, password: fs.readFileSync(passwordFile, 'utf8'), durable })
  }
  const password = fs.readFileSync(passwordFile, 'utf8').trim()
  for (let attempt = 1; ; attempt++) {
    const chosen = port ?? (await pickPort())
    const server = launch({ native, data, runAs, port: chosen, settings, onLog })
    const ready = await server.ready
    if (ready) {
      const url = (database: string) => `postgres://muster:${password}@127.0.0.1:${chosen}/${database}`
      await makeDatabase(url('postgres')).catch(async (error) => {
        await server.stop()
        throw error
      })
      return { url: url('muster'), pid: server.pid, exited: server.exited, stop: server.stop }
    }
    await server.stop()
    const portTaken = /could not bind|Address already in use/.test(server.log())
    if (portTaken && port === undefined && attempt < 5) continue
    throw new Error(`Postgres did not start on port ${chosen}. The end of its log:\n${server.log()}`)
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
  const keep = (chunk: Buffer) => {
    log = (log + chunk).slice(-2000)
    onLog?.(chunk)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  let ended = false
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      keep(Buffer.from(`${error.message}\n`))
      ended = true
      resolve()
    })
    child.once('close', () => {
      ended = true
      resolve()
    })
  })
  const isReady = () => ended || readyIn(data, child.pid)
  const ready = waitFor(isReady, 60_000, 5).then((found) => Boolean(found) && !ended)
  const stop = async () => {
    // Fast, then immediate, then by force. The postmaster takes its backends with it.
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      if (ended) return
      child.kill(signal)
      await waitFor(() => ended, signal === 'SIGINT' ? 15_000 : 3_000, 5)
    }
    await exited
  }
  return { pid: child.pid ?? -1, ready, exited, stop, log: () => log.trim() }
}

/** Line 8 of postmaster.pid says when connections are taken; line 1 whose file it is. */
function readyIn(data: string, pid: number | undefined): boolean {
  try {
    const lines = fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
  } catch {
    return false
  }
}

async function makeDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query("select from pg_database where datname = 'muster'")
    if (!rowCount) await client.query('create database muster')
  } finally {
    await client.end()
  }
}
