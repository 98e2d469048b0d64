import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { LabNode } from '@muster/lab'
import { expect, vi } from 'vitest'
import { freePort } from './free-port.ts'

/** As docs/slurm.md lists them. */
const PERMISSIONS = [
  ...['test.ping', 'test.version', 'pkg.version'],
  { '*': [{ 'state.apply': { args: ['slurm[.]node$'] } }] },
  { '@wheel': ['key.list_all'] },
  { '@runner': ['jobs.list_job'] },
]
const START = { timeout: 180_000, interval: 500 }

export type TestSalt = {
  port: number
  caCertificate: string
  /** Accepted for the user muster with the documented permissions, and for the user limited with test.ping only. */
  sharedSecret: string
  /** Starts a minion, and waits until the master knows its key. */
  startMinion(id: string): Promise<void>
  /** Starts the minion of a lab node on the node itself. */
  startMinionOn(node: LabNode): Promise<void>
  stopMinion(id: string): Promise<void>
  accept(id: string): Promise<void>
  stop(): Promise<void>
}

type Options = {
  /** Where minions of lab nodes reach the master. */
  address?: string
  /** Folders of states. */
  fileRoots?: string[]
}

/** Folders that a lab node needs for its minion: Salt, and the Python that runs it. */
export function saltFolders(): { folder: string; path: string }[] {
  const print = 'import sys; print(sys.prefix); print(sys.base_prefix)'
  const prefixes = execFileSync(process.env.TEST_PYTHON!, ['-c', print], { encoding: 'utf8' }).trim().split('\n')
  return [...new Set([process.env.SALT!, ...prefixes])]
    .filter((folder) => folder !== '/usr')
    .map((folder) => ({ folder, path: folder }))
}

/** A Salt master and salt-api with HTTPS on the loopback address, and minions. `npm run test:long` sets the folder of Salt in SALT. */
export async function startSalt({ address = '127.0.0.1', fileRoots = [] }: Options = {}): Promise<TestSalt> {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-salt-'))
  const program = (name: string) => path.join(process.env.SALT!, 'bin', name)
  const env = { PATH: process.env.PATH, PYTHONPATH: process.env.SALT, HOME: folder }
  const children = new Map<string, ChildProcess>()
  const start = (key: string, name: string, config: string) => {
    const args = [program(name), '-c', config, '-l', 'quiet']
    children.set(key, spawn(process.env.TEST_PYTHON!, args, { env, stdio: 'ignore', detached: true }))
  }
  async function end(key: string): Promise<void> {
    const child = children.get(key)
    children.delete(key)
    if (!child?.pid) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode === null) {
      // Salt's processes are in the group of the first one.
      process.kill(-child.pid, 'SIGKILL')
      await ended
    }
  }
  const write = (file: string, config: object) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    // JSON is YAML.
    writeFileSync(path.join(folder, file), JSON.stringify(config))
  }
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=salt.test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem'
  execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
  const [port, publishPort, returnPort] = [await freePort(), await freePort(), await freePort()]
  const sharedSecret = `shared-${crypto.randomUUID()}`
  const places = (name: string) => ({
    user: userInfo().username,
    root_dir: path.join(folder, name),
    pki_dir: path.join(folder, name, 'pki'),
    cachedir: path.join(folder, name, 'cache'),
    sock_dir: path.join(folder, name, 'run'),
    log_file: path.join(folder, name, 'log'),
    log_level_logfile: 'warning',
  })
  write('etc/master', {
    ...places('master'),
    ...{ interface: address, publish_port: publishPort, ret_port: returnPort, worker_threads: 2 },
    sharedsecret: sharedSecret,
    external_auth: { sharedsecret: { muster: PERMISSIONS, limited: ['test.ping'] } },
    netapi_enable_clients: ['local', 'local_async', 'runner', 'wheel'],
    ...{ file_roots: { base: fileRoots }, fileserver_list_cache_time: 0 },
    rest_cherrypy: {
      ...{ host: '127.0.0.1', port },
      ...{ ssl_crt: path.join(folder, 'cert.pem'), ssl_key: path.join(folder, 'key.pem') },
    },
  })
  const etc = path.join(folder, 'etc')
  const salt = async (name: string, ...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.env.TEST_PYTHON!, [program(name), '-c', etc, ...args], { env })
    return stdout
  }
  const keys = async () => JSON.parse(await salt('salt-key', '--list=all', '--out=json')) as Record<string, string[]>
  const connection = { master: address, master_port: returnPort, publish_port: publishPort, acceptance_wait_time: 1 }
  const waitForKey = (id: string) =>
    vi.waitFor(async () => {
      const { minions = [], minions_pre: pending = [] } = await keys()
      expect([...minions, ...pending]).toContain(id)
    }, START)
  start('master', 'salt-master', etc)
  start('api', 'salt-api', etc)
  return {
    port,
    caCertificate: readFileSync(path.join(folder, 'cert.pem'), 'utf8'),
    sharedSecret,
    async startMinion(id) {
      write(`minions/${id}/minion`, {
        ...places(`minion-${id}`),
        ...{ id, ...connection, tcp_pub_port: await freePort(), tcp_pull_port: await freePort() },
      })
      start(id, 'salt-minion', path.join(folder, 'minions', id))
      await waitForKey(id)
    },
    async startMinionOn(node) {
      const { name: id } = node
      const config = JSON.stringify({ id, ...connection, log_level_logfile: 'warning' })
      const minion = `PYTHONPATH=${process.env.SALT} setsid ${process.env.TEST_PYTHON} ${program('salt-minion')} -l quiet`
      const script = `mkdir -p /etc/salt; cat > /etc/salt/minion; ${minion} </dev/null >/dev/null 2>&1 &`
      await node.exec(['sh', '-c', script], { input: config })
      await waitForKey(id)
    },
    stopMinion: end,
    async accept(id) {
      await salt('salt-key', '--yes', `--accept=${id}`)
      await vi.waitFor(async () => expect(await salt('salt', id, 'test.ping', '--out=json')).toContain('true'), START)
    },
    async stop() {
      for (const key of [...children.keys()]) await end(key)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
