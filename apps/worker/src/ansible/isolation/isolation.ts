import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { writableDirs } from '../run-directory.ts'
import { giveToRun } from './give-to-run.ts'

/** Whom the processes of a run belong to. `isItsOwn`: no other process of this machine is this user's. */
export type RunUser = { uid: number; gid: number; isItsOwn: boolean }

/** The directories of one run. `user` is null where its processes are the worker's own user's. */
export type RunPlace = { dir: string; sshDir: string; user: RunUser | null }

/** What stands between the processes of a run and this machine. */
export type Isolation = {
  mode: 'bubblewrap' | 'uid' | 'none'
  /** Why there is none, or not the best; null when nothing is wanting. */
  weakness: string | null
  /** A user for one run. */
  user(): RunUser | null
  /**
   * To be called when all is in place that the run is to find in its directories.
   * @returns makes, of a command, the one that starts it inside. It says the pid of what it starts on `tellPidFd`, see start-inside.ts
   */
  enter(place: RunPlace): Promise<Enter>
  /** Whether what is started is the child of a process that stays, and not that process. */
  hasMonitor: boolean
}
export type Enter = (argv: string[], tellPidFd?: number) => string[]

/** What isolation has to know of this worker. */
export type Surroundings = {
  /** Files and directories that every run reads: programs, playbooks, and what the operator named. */
  readable: string[]
  /** Files that no run may read, wherever they lie. */
  hidden: string[]
}

/** For people: in one line what playbooks are kept in, and what is wanting. */
export function said({ mode, weakness }: Isolation): string {
  const how = { bubblewrap: 'are isolated by bubblewrap', uid: 'run as a user of their own', none: 'are not isolated' }[mode]
  return `Playbooks ${how}${weakness ? ` (${weakness.replace(/\s+/g, ' ')})` : ''}.`
}

/** For a run that takes what the worker's user can do on this machine. */
export const noIsolation = (weakness: string | null): Isolation => ({
  mode: 'none',
  weakness,
  user: () => null,
  enter: async () => (argv) => argv,
  hasMonitor: false,
})

/**
 * What is no playbook's business to need more of, so that one that runs wild does not take the machine with it. No limit of address
 * space: Python and what it loads reserve far more than they use. Sizes in bytes.
 */
const LIMITS = { core: 0, nofile: 16_384, nproc: 8192, fsize: 16 * 1024 ** 3 }
const NAMES = { core: 'Max core file size', nofile: 'Max open files', nproc: 'Max processes', fsize: 'Max file size' }

/** Nobody but root may raise what this process has itself, by /proc/self/limits of proc(5): a name, a soft and a hard limit. */
function limited(argv: string[]): string[] {
  const own = process.platform === 'linux' ? readFileSync('/proc/self/limits', 'utf8') : ''
  const options = Object.entries(LIMITS).map(([name, most]) => {
    const hard = Number(new RegExp(`^${NAMES[name as keyof typeof NAMES]} +\\S+ +(\\d+)`, 'm').exec(own)?.[1] ?? most)
    return `--${name}=${Math.min(most, hard)}`
  })
  return ['prlimit', ...options, '--', ...argv]
}

/** The command that starts a command as a user, for good. */
export const become = ({ uid, gid }: RunUser, argv: string[]): string[] => [
  ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--inh-caps=-all', '--no-new-privs', '--'],
  ...argv,
]

/** The account's own rights and nothing more: what others may read, a run may read. */
export const asUser = (user: RunUser): Isolation => ({
  mode: 'uid',
  weakness: null,
  user: () => user,
  async enter(place) {
    await giveToRun(place)
    return (argv) => limited(become(user, argv))
  },
  hasMonitor: false,
})

// Numbers that systemd's documentation says nobody uses.
const FIRST_UID = 1_879_048_192
const UIDS = 268_304_384

// Programs, libraries and settings; no home, no /var, no /run, no /opt, no /srv.
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/sys', '/nix/store', '/gnu/store']

/**
 * A view of the machine made for the run: programs and playbooks read-only, the run's own directory, a /tmp of its own, and nothing
 * else. As root each run is also a user of its own; otherwise its processes are in a user namespace of their own, so that the
 * kernel lets them look into no process outside. They stay in the machine's pid namespace: the connections of ssh outlive
 * ansible-playbook, by them what it left on nodes is ended.
 */
export function bubblewrap({ readable, hidden }: Surroundings): Isolation {
  const isRoot = process.getuid?.() === 0
  const isBelow = (path: string, top: string) => path !== top && `${path}/`.startsWith(`${top}/`)
  const shown = [...new Set([...SYSTEM, ...readable])]
  const tops = shown.filter((path) => !shown.some((top) => isBelow(path, top)))
  return {
    mode: 'bubblewrap',
    weakness: null,
    user() {
      if (!isRoot) return null
      const uid = FIRST_UID + randomInt(UIDS)
      return { uid, gid: uid, isItsOwn: true }
    },
    async enter(place) {
      const { dir, sshDir, user } = place
      await giveToRun(place)
      const programs = [...tops, ...(await resolver())]
      const own = [...new Set([dir, sshDir])]
      const view = [
        ...['--dev', '/dev', '--ro-bind', '/proc', '/proc', '--symlink', '/tmp', '/var/tmp'],
        ...['/tmp', '/dev/shm'].flatMap((path) => ['--bind', `${dir}/tmp`, path]),
        // Of itself bubblewrap makes folders on the way that nobody else may pass.
        ...foldersTo([...programs, ...own]).flatMap((path) => ['--dir', path]),
        ...programs.flatMap((path) => ['--ro-bind-try', path, path]),
        ...['--ro-bind', await passwdFor(user?.uid ?? process.getuid!(), dir), '/etc/passwd'],
        ...(await existing(hidden)).flatMap((path) => ['--ro-bind', '/dev/null', path]),
        ...own.flatMap((path) => ['--ro-bind', path, path]),
        ...writableDirs(place).flatMap((path) => ['--bind', path, path]),
        ...['--remount-ro', '/'],
      ]
      const who = user ? ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'] : ['--unshare-user']
      return (argv, tellPidFd) =>
        limited([
          ...['bwrap', '--unshare-ipc', '--new-session', ...who, ...view, '--chdir', dir],
          ...(tellPidFd === undefined ? [] : ['--info-fd', String(tellPidFd)]),
          ...['--', ...(user ? become(user, argv) : argv)],
        ])
    },
    hasMonitor: true,
  }
}

/** The folders above paths, those above others first. */
function foldersTo(paths: string[]): string[] {
  const above = paths.flatMap((path) => path.split(sep).map((_, depth, parts) => parts.slice(0, depth).join(sep)))
  return [...new Set(above)].filter(Boolean).sort()
}

/** The machine's accounts, with one for the run's user whose home is the run's: ssh and Ansible look there, and not for HOME. */
async function passwdFor(uid: number, dir: string): Promise<string> {
  const path = join(dir, 'passwd')
  const others = (await readFile('/etc/passwd', 'utf8')).split('\n').filter((line) => line && line.split(':')[2] !== String(uid))
  const lines = [...others, `muster-run:x:${uid}:${uid}::${dir}/home:/bin/sh`, '']
  await writeFile(path, lines.join('\n'))
  // Whatever the umask of the worker is, the run's user has to read it.
  await chmod(path, 0o644)
  return path
}

/** resolv.conf is often a link into /run. Its folder, for the file is replaced now and then. */
async function resolver(): Promise<string[]> {
  const path = await realpath('/etc/resolv.conf').catch(() => '/etc/resolv.conf')
  return path.startsWith('/etc/') ? [] : [dirname(path)]
}

async function existing(paths: string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => null)))
  return real.filter((path) => path !== null)
}
