import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { OwnedLab } from '@muster/lab'
import type { SlurmNode } from '@muster/slurm'
import { vi } from 'vitest'

/** Account of the lab that runs slurmrestd: it refuses to run as root or SlurmUser. */
const USER = 'ops'
const LOG = '/tmp/slurmrestd.log'

/**
 * Starts the slurmrestd of the lab's cluster on its first controller.
 * @param listen `unix:/path` or `host:port`
 * @returns a function that stops it
 */
export async function startSlurmrestd(
  lab: OwnedLab,
  listen: string,
  { plugins = [], environment = [] }: { plugins?: string[]; environment?: string[] } = {},
): Promise<() => Promise<void>> {
  const slurm = lab.slurm!
  const isSocket = listen.startsWith('unix:')
  const program = slurm.programFolder ? slurm.programFolder.replace(/bin$/, 'sbin/slurmrestd') : '/usr/sbin/slurmrestd'
  const auth = isSocket ? 'rest_auth/local' : 'rest_auth/jwt'
  const argv = [program, '-a', auth, ...(plugins.length > 0 ? ['-s', plugins.join(',')] : []), listen]
  const start = 'rm -f "$1"; log=$2; shift 2; setsid env "$@" </dev/null >"$log" 2>&1 & echo $!'
  // With tokens, slurmrestd itself must not authenticate with munge.
  const settings = isSocket ? environment : ['SLURM_JWT=daemon', ...environment]
  const script = ['sh', '-c', start, 'sh', listen.replace(/^unix:/, ''), LOG, ...settings, ...argv]
  const { stdout } = await slurm.run(script, { user: USER })
  const pid = stdout.trim()
  const probe = isSocket
    ? ['sh', '-c', '[ -S "$1" ]', 'sh', listen.slice(5)]
    : ['bash', '-c', `: </dev/tcp/${listen.replace(':', '/')}`]
  await vi.waitFor(
    async () => {
      const { code } = await slurm.run(probe)
      if (code !== 0) throw new Error(`slurmrestd does not listen: ${(await slurm.run(['cat', LOG])).stdout}`)
    },
    { timeout: 20_000, interval: 100 },
  )
  return async () => {
    await slurm.run(['kill', pid])
    await vi.waitFor(async () => {
      if ((await slurm.run(['kill', '-0', pid])).code === 0) throw new Error('slurmrestd still runs')
    })
  }
}

const JWT_LIBRARIES = 'jwt-libraries'
const KEY = '/var/spool/slurmctld/jwt.key'

/**
 * The libraries of auth/jwt, which packages of Slurm would install: downloads those that this machine lacks from Debian into an unpacked
 * release. They are not installed.
 */
export function provideJwtLibraries(release: string): void {
  const folder = path.join(release, JWT_LIBRARIES)
  mkdirSync(path.join(folder, 'partial'), { recursive: true })
  const options = ['-o', `Dir::Cache::archives=${folder}`, '-o', 'APT::Sandbox::User=root', '-o', 'DPkg::Lock::Timeout=300']
  execFileSync('apt-get', [...options, 'install', '--download-only', '--yes', 'libjwt0'], { stdio: 'ignore' })
  for (const name of globSync('*.deb', { cwd: folder })) execFileSync('dpkg-deb', ['--extract', name, '.'], { cwd: folder })
}

/** Lets the controller of the lab accept tokens (auth/jwt), which Debian's Slurm lacks. */
export async function acceptTokens(lab: OwnedLab): Promise<void> {
  const release = path.dirname(lab.slurm!.programFolder!)
  const script = `set -e
    find ${release}/${JWT_LIBRARIES} -name 'lib*.so*' -exec ln -s -t /usr/lib {} +
    head -c 32 /dev/urandom > ${KEY}; chown slurm: ${KEY}; chmod 600 ${KEY}
    printf 'AuthAltTypes=auth/jwt\\nAuthAltParameters=jwt_key=${KEY}\\n' >> /etc/slurm/slurm.conf
    systemctl restart slurmctld || { cat /var/log/slurmctld.service.log; exit 1; } >&2
    until scontrol ping | grep -q UP; do sleep 0.1; done`
  const { code, stderr } = await lab.slurm!.run(['sh', '-c', script])
  if (code !== 0) throw new Error(`auth/jwt was not set up: ${stderr}`)
}

/** A token of root. */
export async function createToken(lab: OwnedLab, lifespanSeconds: number): Promise<string> {
  const { stdout, stderr } = await lab.slurm!.run(['scontrol', 'token', `lifespan=${lifespanSeconds}`])
  const token = /^SLURM_JWT=(\S+)$/m.exec(stdout)?.[1]
  if (!token) throw new Error(`scontrol token failed: ${stderr}`)
  return token
}

/** A key and a self-signed certificate for an address, in PEM. */
export function createCertificate(address = '127.0.0.1'): { key: string; cert: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-certificate-'))
  const make = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=slurmrestd.test -addext subjectAltName=IP:${address} -keyout key.pem -out cert.pem`
  try {
    execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
    const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')
    return { key: read('key.pem'), cert: read('cert.pem') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A TLS proxy in front of slurmrestd or the API. */
export async function startTlsProxy(host: string, port: number, address = '127.0.0.1') {
  const { key, cert } = createCertificate(address)
  const server = createServer({ key, cert }, (incoming, outgoing) => {
    const forwarded = request(
      { host, port, path: incoming.url, method: incoming.method, headers: incoming.headers },
      (response) => {
        outgoing.writeHead(response.statusCode!, response.headers)
        response.pipe(outgoing)
      },
    )
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    caCertificate: cert,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

type Stored = Record<'nodes' | 'partitions' | 'jobs', Record<string, unknown>[]>

/**
 * What is stored of a cluster, without what differs between two refreshes (load, memory, and times that slurmctld computes from durations)
 * and the detail of the reason of jobs: the text of squeue repeats the reason there.
 */
export const comparable = ({ nodes, partitions, jobs }: Stored) => ({
  nodes: nodes.map(({ digest, report, ...row }) => {
    const { cpuLoad, freeMemory, lastBusyAt, bootAt, ...rest } = report as SlurmNode
    return { ...row, report: rest }
  }),
  partitions,
  jobs: jobs.map(({ digest, report, ...row }) => {
    const { reasonDetail, ...rest } = report as Record<string, unknown>
    return { ...row, report: rest }
  }),
})
