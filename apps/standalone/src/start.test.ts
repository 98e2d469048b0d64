import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pickPort } from './ports.ts'
import { startPostgres } from './postgres/start-postgres.ts'
import { root } from './root.ts'

const UP_MS = 300_000 // the console may have to be built first

let dataDir: string
let products: ChildProcess[] = []
beforeEach(() => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-start-'))
})
afterEach(async () => {
  const running = products.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  await Promise.all(running.map((product) => product.kill('SIGTERM') && once(product, 'exit')))
  products = []
  fs.rmSync(dataDir, { recursive: true, force: true })
})

const PASSWORD = 'a password that is passed over pipes only'

/** Runs `npm start` without its setup. Resolves when it has printed its summary. */
async function start(...argv: string[]): Promise<{ product: ChildProcess; output: string }> {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    MUSTER_DATA_DIR: dataDir,
    PORT: String(await pickPort(20_000)),
    CREDENTIAL_MASTER_PASSWORD: PASSWORD,
  }
  for (const name of ['DATABASE_URL', 'MUSTER_PUBLIC_URL', 'HOST', 'NODE_OPTIONS', 'VITEST']) delete env[name]
  const product = spawn(process.execPath, ['apps/standalone/src/main.ts', ...argv], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  products.push(product)
  let output = ''
  for (const stream of [product.stdout!, product.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const isUp = () => /^\s*Stop\s/m.test(output)
  await expect.poll(() => isUp() || product.exitCode !== null, { timeout: UP_MS }).toBe(true)
  if (!isUp()) throw new Error(output)
  return { product, output }
}

/** Pids of this instance: the data directory is in their command line, environment or, for Postgres, working directory. */
function remainingProcesses(): string[] {
  return fs
    .readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .filter(
      (pid) => `${read(`/proc/${pid}/cmdline`)}${read(`/proc/${pid}/environ`)}`.includes(dataDir) || cwd(pid).startsWith(dataDir),
    )
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

function cwd(pid: string): string {
  try {
    return fs.readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

/** Address of the API, which listens on a port of its own. */
function apiUrl(): string {
  const isApi = (pid: string) => read(`/proc/${pid}/cmdline`).includes('apps/api/src/main.ts')
  const environment = read(`/proc/${remainingProcesses().find(isApi)}/environ`).split('\0')
  return `http://127.0.0.1:${environment.find((line) => line.startsWith('PORT='))!.slice(5)}`
}

/** Sends requests that are limited per client, each with another forged address, as a playbook can. @returns the last result */
async function forgeAddresses(api: string, count: number): Promise<string> {
  const query = 'mutation { it: startPasskeySignIn { __typename ... on UnavailableError { message } } }'
  const send = (i: number) =>
    fetch(`${api}/graphql`, {
      method: 'POST',
      body: JSON.stringify({ query }),
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${i}`, 'x-muster-peer': `192.0.2.${i}` },
    })
  for (let i = 1; i < count; i++) await send(i)
  return JSON.stringify(await (await send(count)).json())
}

test.runIf(process.platform === 'linux')(
  'starts, stops completely with its output closed, and cleans up after a killed instance',
  { timeout: 2 * UP_MS },
  async () => {
    const first = await start()
    const link = /^\s*Sign in\s+(\S+)/m.exec(first.output)?.[1]
    const url = /^\s*Console\s+(\S+)/m.exec(first.output)?.[1]
    expect(link).toMatch(/\/sign-in#token=/)
    expect((await fetch(`${url}/sign-in`)).status).toBe(200)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(fs.statSync(dataDir).mode & 0o777).toBe(0o700)
    expect(remainingProcesses().length).toBeGreaterThan(4)
    const withPassword = remainingProcesses().filter((pid) => read(`/proc/${pid}/environ`).includes(PASSWORD))
    expect(withPassword).toEqual([String(first.product.pid)])

    first.product.stdout!.destroy()
    first.product.stderr!.destroy()
    first.product.kill('SIGTERM')
    await once(first.product, 'exit')
    expect(first.product.exitCode).toBe(0)
    expect(remainingProcesses()).toEqual([])

    const killed = await start()
    killed.product.kill('SIGKILL')
    await once(killed.product, 'exit')
    const last = await start('--tls')
    const secureLink = /^\s*Sign in\s+(\S+)/m.exec(last.output)![1]!
    expect(secureLink).toMatch(/^https:\/\/localhost:/)
    const env = { ...process.env, NODE_OPTIONS: '', XDG_CONFIG_HOME: dataDir }
    const login = (ca?: string) =>
      promisify(execFile)(process.execPath, ['apps/cli/src/main.ts', 'login', secureLink], {
        cwd: root,
        env: ca ? { ...env, NODE_EXTRA_CA_CERTS: ca } : env,
      })
    await expect(login()).rejects.toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/self-signed certificate.*NODE_EXTRA_CA_CERTS/),
    })
    await login(path.join(dataDir, 'tls/cert.pem'))
    // Last, because it uses up the attempts of this machine.
    expect(await forgeAddresses(apiUrl(), 31)).toMatch(/too many/i)
    last.product.kill('SIGINT')
    await once(last.product, 'exit')
    await expect.poll(remainingProcesses).toEqual([])
  },
)

test('rejects a proxy that is trusted without a secret', async () => {
  const env = { ...process.env, MUSTER_DATA_DIR: dataDir, TRUST_PROXY: '1', PROXY_SECRET_FILE: '' }
  const started = promisify(execFile)(process.execPath, ['apps/standalone/src/main.ts'], { cwd: root, env })
  await expect(started).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Set PROXY_SECRET_FILE') })
})

test('rejects a data directory of a pre-release version and leaves it unchanged', { timeout: UP_MS }, async () => {
  /** Runs a statement in the database of the data directory, which nothing else uses meanwhile. */
  const query = async (statement: string) => {
    const postgres = await startPostgres({ dir: path.join(dataDir, 'postgres'), durable: false })
    const client = new pg.Client({ connectionString: postgres.url })
    try {
      await client.connect()
      return (await client.query(statement)).rows
    } finally {
      await client.end()
      await postgres.stop()
    }
  }
  await query('create table compute_nodes as select 1 as id')
  await expect(start()).rejects.toThrow(
    /Migrate the database failed: The data directory \S+ is from a pre-release version .* set MUSTER_DATA_DIR/,
  )
  expect(products[0]!.exitCode).toBe(1)
  const tables = `select count(*)::int as tables, (select id from compute_nodes) from information_schema.tables
    where table_schema in ('public', 'drizzle')`
  expect(await query(tables)).toEqual([{ tables: 1, id: 1 }])
})
