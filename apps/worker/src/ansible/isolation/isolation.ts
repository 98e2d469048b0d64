import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { markerOf, type RunPaths, type RunUser, writableDirs } from '../run-directory/run-paths.ts'
import { grantToRunUser } from './grant-to-run-user.ts'
import type { UserPool } from './run-accounts.ts'

/** How the processes of a run are isolated from this machine. */
export type Isolation = {
  mode: 'bubblewrap' | 'uid' | 'none' | 'unavailable'
  /** Why isolation is missing or not the strongest; null when it is. */
  weakness: string | null
  /** Returns the user of one run; `release` it when the run has ended and its processes are gone. */
  user(): RunUser | null
  release(user: RunUser | null): void
  /**
   * Prepares the run's directories; call it when they are complete.
   * @param options folders that commands may write to in addition, and the maximum size of a file in bytes
   * @returns turns a command into the one that starts it isolated and reports its PID on `pidFd`, see spawn-isolated.ts
   */
  prepare(paths: RunPaths, options?: SandboxOptions): Promise<WrapCommand>
  /**
   * Whether each command has a PID namespace, with a monitor process outside of it and an init inside, which leads the process group.
   * Killing the init kills every process in the namespace.
   */
  hasPidNamespace: boolean
}
export type WrapCommand = (argv: string[], pidFd?: number) => string[]
/** `isGranted`: the directories belong to the run's user already, whose processes may still change them. */
export type SandboxOptions = { writable?: string[]; maxFileBytes?: number; isGranted?: boolean }

/** Paths of this machine that isolation shows to runs or hides from them. */
export type VisiblePaths = {
  /** Files and directories that every run can read: programs, playbooks, and what the operator configured. */
  readable: string[]
  /** Files that no run may read, wherever they are. */
  hidden: string[]
  /** Whether /proc can show only the processes of a command. It cannot in containers that hide parts of /proc. */
  hasOwnProc?: boolean
}

/** Describes the isolation in one line for operators. */
export function describeIsolation({ mode, weakness }: Isolation): string {
  const how = {
    bubblewrap: 'Playbooks are isolated by bubblewrap',
    uid: 'Playbooks run as a user of their own',
    none: 'Playbooks are not isolated',
    unavailable: 'Playbooks from bundles and git repositories are rejected, because there is no sandbox',
  }[mode]
  return `${how}${weakness ? ` (${weakness.replace(/\s+/g, ' ')})` : ''}.`
}

/** Runs have all rights of the worker's user on this machine. */
export const noIsolation = (weakness: string | null): Isolation => ({
  mode: 'none',
  weakness,
  user: () => null,
  release: () => {},
  prepare: async () => (argv) => argv,
  hasPidNamespace: false,
})

/** No sandbox can be used here, so runs of playbooks that users wrote are rejected; shipped ones run with all rights. */
export const noSandbox = (weakness: string): Isolation => ({ ...noIsolation(weakness), mode: 'unavailable' })

/**
 * Resource limits that no regular playbook reaches, so that a runaway one does not take down the machine. Address space is
 * unlimited, because Python reserves far more than it uses. Sizes in bytes.
 */
const LIMITS = { core: 0, nofile: 16_384, nproc: 8192, fsize: 16 * 1024 ** 3 }
const NAMES = { core: 'Max core file size', nofile: 'Max open files', nproc: 'Max processes', fsize: 'Max file size' }

/** Only root may exceed the hard limits of this process, which /proc/self/limits lists; see proc(5). */
function limited(argv: string[], fsize = LIMITS.fsize): string[] {
  const own = process.platform === 'linux' ? readFileSync('/proc/self/limits', 'utf8') : ''
  const options = Object.entries({ ...LIMITS, fsize }).map(([name, most]) => {
    const hard = Number(new RegExp(`^${NAMES[name as keyof typeof NAMES]} +\\S+ +(\\d+)`, 'm').exec(own)?.[1] ?? most)
    return `--${name}=${Math.min(most, hard)}`
  })
  return ['prlimit', ...options, '--', ...argv]
}

/** Wraps a command so that it runs as a user and cannot regain privileges. */
export const become = ({ uid, gid }: RunUser, argv: string[]): string[] => [
  ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--inh-caps=-all', '--no-new-privs', '--'],
  ...argv,
]

/** Each concurrent run has an unprivileged account of its own: it can read what every user can. */
export const asUser = (pool: UserPool): Isolation => ({
  mode: 'uid',
  weakness: null,
  user: () => pool.take(),
  release: (user) => user && pool.release(user),
  async prepare(paths, { writable = [], maxFileBytes, isGranted = false } = {}) {
    if (!isGranted) await grantToRunUser(paths, writable)
    return (argv) => limited(become(paths.user!, argv), maxFileBytes)
  },
  hasPidNamespace: false,
})

// A UID range that systemd's documentation lists as unused.
const FIRST_UID = 1_879_048_192
const UIDS = 268_304_384

// Programs and libraries. Not /home, /var, /run, /opt or /srv.
const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/sys', '/nix/store', '/gnu/store']
/** What programs need of /etc: loader, names, time zone, certificates, Ansible. The rest may hold secrets of services. */
const ETC = [
  ...[
    'alternatives',
    'ansible',
    'bash.bashrc',
    'ca-certificates',
    'ca-certificates.conf',
    'crypto-policies',
    'gai.conf',
    'group',
  ],
  ...['host.conf', 'hostname', 'hosts', 'krb5.conf', 'krb5.conf.d', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'locale.alias'],
  ...['locale.conf', 'localtime', 'login.defs', 'machine-id', 'mime.types', 'networks', 'nsswitch.conf', 'os-release'],
  ...['pki/ca-trust', 'pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf', 'profile', 'protocols', 'resolv.conf', 'rpc'],
  ...['services', 'shells', 'ssh/ssh_config', 'ssh/ssh_config.d', 'ssh/ssh_known_hosts', 'ssl/certs', 'ssl/cert.pem'],
  ...['ssl/openssl.cnf', 'terminfo', 'timezone'],
].map((name) => `/etc/${name}`)
const SYSTEM = [...PROGRAMS, ...ETC]

/**
 * A file system view for the run: read-only programs and playbooks, the run's directory and a private /tmp. When the worker is root,
 * each run also has a dedicated user; otherwise its processes get a user namespace, so that the kernel lets them inspect no process
 * outside. Each command has a PID namespace. It outlives its command as long as a process is left in it, because the cleanup on nodes
 * needs the SSH connections of ansible-playbook; `killProcesses` then ends it.
 */
export function bubblewrap(
  { readable, hidden, hasOwnProc = true }: VisiblePaths,
  { isRoot = process.getuid?.() === 0 } = {},
): Isolation {
  const isBelow = (path: string, top: string) => path !== top && `${path}/`.startsWith(`${top}/`)
  const shown = [...new Set([...SYSTEM, ...readable])]
  const tops = shown.filter((path) => !shown.some((top) => isBelow(path, top)))
  return {
    mode: 'bubblewrap',
    weakness: null,
    user() {
      if (!isRoot) return null
      const uid = FIRST_UID + randomInt(UIDS)
      return { uid, gid: uid }
    },
    release: () => {},
    async prepare(paths, { writable = [], maxFileBytes, isGranted = false } = {}) {
      const { dir, sshDir, user } = paths
      if (!isGranted) await grantToRunUser(paths, writable)
      const programs = [...tops, ...(await resolver())]
      const own = [...new Set([dir, sshDir])]
      const view = [
        ...['--dev', '/dev', ...(hasOwnProc ? ['--proc', '/proc'] : ['--ro-bind', '/proc', '/proc'])],
        ...['--symlink', '/tmp', '/var/tmp'],
        ...['/tmp', '/dev/shm'].flatMap((path) => ['--bind', `${dir}/tmp`, path]),
        // The parent folders that bubblewrap creates implicitly are not traversable for other users.
        ...parentFolders([...programs, ...own]).flatMap((path) => ['--dir', path]),
        ...programs.flatMap((path) => ['--ro-bind-try', path, path]),
        ...['--ro-bind', await passwdFor(user?.uid ?? process.getuid!(), dir), '/etc/passwd'],
        ...(await existing(hidden)).flatMap((path) => ['--ro-bind', '/dev/null', path]),
        ...own.flatMap((path) => ['--ro-bind', path, path]),
        ...[...writableDirs(paths), ...writable].flatMap((path) => ['--bind', path, path]),
        ...['--remount-ro', '/'],
      ]
      const who = user ? ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'] : ['--unshare-user']
      return (argv, pidFd) =>
        limited(
          [
            ...['bwrap', '--unshare-ipc', '--unshare-pid', '--new-session', ...who, ...view, '--chdir', dir],
            ...(pidFd === undefined ? [] : ['--info-fd', String(pidFd)]),
            // The environment of bubblewrap's own processes is unreadable, so they are found by this argument.
            ...['--', 'env', markerOf(dir), ...(user ? become(user, argv) : argv)],
          ],
          maxFileBytes,
        )
    },
    hasPidNamespace: true,
  }
}

/** The parent folders of paths, outermost first. */
function parentFolders(paths: string[]): string[] {
  const above = paths.flatMap((path) => path.split(sep).map((_, depth, parts) => parts.slice(0, depth).join(sep)))
  return [...new Set(above)].filter(Boolean).sort()
}

/** Writes a passwd file with an entry for the run's user: SSH and Ansible take the home directory from it and ignore HOME. */
async function passwdFor(uid: number, dir: string): Promise<string> {
  const path = join(dir, 'passwd')
  const others = (await readFile('/etc/passwd', 'utf8')).split('\n').filter((line) => line && line.split(':')[2] !== String(uid))
  const lines = [...others, `muster-run:x:${uid}:${uid}::${dir}/home:/bin/sh`, '']
  await writeFile(path, lines.join('\n'))
  // The run's user must be able to read it, whatever the worker's umask is.
  await chmod(path, 0o644)
  return path
}

/** The folder behind /etc/resolv.conf, often a link into /run. The folder and not the file, because the file gets replaced. */
async function resolver(): Promise<string[]> {
  const path = await realpath('/etc/resolv.conf').catch(() => '/etc/resolv.conf')
  return path.startsWith('/etc/') ? [] : [dirname(path)]
}

async function existing(paths: string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => null)))
  return real.filter((path) => path !== null)
}
