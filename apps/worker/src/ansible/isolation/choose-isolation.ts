import { execFile } from 'node:child_process'
import { chmod, readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { loadConfig } from '@muster/core/config'
import type { AnsiblePaths } from '../../ansible-version.ts'
import { endLeftovers } from '../end-leftovers.ts'
import { signal } from '../processes.ts'
import { createRunDirectory } from '../run-directory.ts'
import { playbooksOf } from '../shipped-playbooks.ts'
import { asUser, bubblewrap, type Isolation, noIsolation, type RunUser, type Surroundings } from './isolation.ts'
import { startInside } from './start-inside.ts'

export type IsolationConfig = ReturnType<
  typeof loadConfig<
    | 'ANSIBLE_ISOLATION'
    | 'ANSIBLE_READABLE_PATHS'
    | 'ANSIBLE_PLAYBOOK'
    | 'ANSIBLE_PLAYBOOK_REPO_PATH'
    | 'ANSIBLE_WORK_DIR'
    | 'CREDENTIAL_MASTER_PASSWORD_FILE'
  >
>

/** The account that runs get where they cannot get one of their own. */
const ACCOUNT = 'muster-run'
const TRIAL_MS = 30_000
/** Ansible's workers are held together by semaphores, and ssh asks who it is. */
const NEEDS = 'import multiprocessing, os, pwd; multiprocessing.Lock(); pwd.getpwuid(os.getuid())'
const LONGEST_REASON = 300

/**
 * What runs are kept in on this machine, found out by starting ansible-playbook in it.
 * @throws Error that says what to do, when the one that the operator named cannot be used
 */
export async function chooseIsolation(config: IsolationConfig, ansible: AnsiblePaths): Promise<Isolation> {
  const wanted = config.ANSIBLE_ISOLATION
  if (wanted === 'none') return noIsolation('ANSIBLE_ISOLATION is none')
  const makers = {
    bubblewrap: async () => bubblewrap(await surroundingsOf(config, ansible)),
    uid: async () => asUser(await account()),
  }
  const reasons: string[] = []
  for (const mode of wanted === 'auto' ? (['bubblewrap', 'uid'] as const) : [wanted]) {
    try {
      const isolation = await makers[mode]()
      await tryOut(isolation, config, ansible.python)
      return { ...isolation, weakness: reasons[0] ?? null }
    } catch (error) {
      reasons.push(`${mode} cannot be used: ${(error as Error).message.trim().slice(-LONGEST_REASON)}`)
    }
  }
  if (wanted !== 'auto')
    throw new Error(`ANSIBLE_ISOLATION=${reasons[0]}. Put that right, or set ANSIBLE_ISOLATION to auto or none.`)
  return noIsolation(reasons.join('; '))
}

/** What a run needs of this machine, and what lies there that it must not see. */
export async function surroundingsOf(
  config: IsolationConfig,
  { executable, python, modules }: AnsiblePaths,
): Promise<Surroundings> {
  const playbooks = playbooksOf(config)
  const readable = [
    ...[config.ANSIBLE_PLAYBOOK, executable, modules && dirname(modules)]
      .filter((path) => path !== null)
      .filter((path) => isAbsolute(path)),
    ...(python ? await pathsOf(python) : []),
    // `collect_facts` reads the probe from there.
    ...[playbooks, join(playbooks, '../packages/discovery/src')],
    ...config.ANSIBLE_READABLE_PATHS,
  ]
  const hidden = [process.env.MUSTER_CONFIG, config.CREDENTIAL_MASTER_PASSWORD_FILE].filter((path) => path !== undefined)
  return { readable, hidden }
}

/** Start ansible-playbook, and what it needs, as a run would be started. @throws Error in the words of what failed */
async function tryOut(
  isolation: Isolation,
  { ANSIBLE_WORK_DIR: workDir, ANSIBLE_PLAYBOOK: file }: IsolationConfig,
  python: string | null,
): Promise<void> {
  const trials = [[file, '--version'], ...(python ? [[python, '-I', '-c', NEEDS]] : [])]
  const directory = await createRunDirectory(workDir, 'trial0', isolation.user())
  const { dir, marker } = directory
  try {
    if (isolation.mode === 'uid') await chmod(workDir, 0o711)
    const enter = await isolation.enter(directory)
    const [name = '', value] = marker.split(/=(.*)/s)
    const env = { PATH: process.env.PATH, HOME: `${dir}/home`, LC_ALL: 'C.UTF-8', [name]: value }
    await Promise.all(
      trials.map(async (argv) => {
        const { child, leader, exited } = await startInside(argv, dir, { isolation, enter, env })
        const timer = setTimeout(() => {
          child.kill('SIGKILL')
          // Where a monitor stood between, what it watched holds the pipes open.
          void leader.then((pid) => signal(-pid, 'SIGKILL'))
        }, TRIAL_MS)
        const [said, , code] = await Promise.all([text(child.stderr!), text(child.stdout!), exited])
        clearTimeout(timer)
        if (code !== 0) throw new Error(said || `${argv[0]} ended with ${code}`)
      }),
    )
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    const missing = code === 'ENOENT' ? path : /failed to execute ([^/\s]+):/.exec(message)?.[1]
    throw missing ? new Error(`there is no ${missing}: install the package that has it (bubblewrap, util-linux)`) : error
  } finally {
    await endLeftovers(directory, async () => {})
    await directory.remove()
  }
}

async function account(): Promise<RunUser> {
  if (process.getuid?.() !== 0) throw new Error('the worker does not run as root')
  const accounts = await readFile('/etc/passwd', 'utf8')
  const [, , uid, gid] =
    accounts
      .split('\n')
      .find((line) => line.startsWith(`${ACCOUNT}:`))
      ?.split(':') ?? []
  if (!uid || !gid) throw new Error(`there is no user ${ACCOUNT}: make one with \`useradd --system ${ACCOUNT}\``)
  return { uid: Number(uid), gid: Number(gid), isItsOwn: false }
}

/** Where a Python has what it needs. */
async function pathsOf(python: string): Promise<string[]> {
  const program = 'import sys; print(*{sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *sys.path}, sep="\\n")'
  const { stdout } = await promisify(execFile)(python, ['-I', '-c', program], { timeout: TRIAL_MS, env: {} })
  return stdout.split('\n').filter((path) => isAbsolute(path) && path !== sep)
}
