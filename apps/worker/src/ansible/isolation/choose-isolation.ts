import { chmod } from 'node:fs/promises'
import { dirname, isAbsolute, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import type { AllSettings } from '@muster/core/registry'
import type { AnsiblePaths } from '../../ansible-version.ts'
import { runProgram } from '../../executor/executor.ts'
import { sendSignal } from '../../executor/send-signal.ts'
import type { MastersOfRun } from '../process/control-masters.ts'
import { killLeftoverProcesses } from '../process/kill-leftover-processes.ts'
import { createRunDirectory, environmentOf } from '../run-directory/run-directory.ts'
import { ANSIBLE_CONTENT, PROBE_SCRIPT, playbookRoot } from '../run-directory/shipped-playbooks.ts'
import { asUser, bubblewrap, type Isolation, noIsolation, noSandbox, type VisiblePaths } from './isolation.ts'
import { createUserPool, readRunAccounts } from './run-accounts.ts'
import { spawnIsolated } from './spawn-isolated.ts'

export type IsolationConfig = Pick<
  AllSettings,
  | 'ANSIBLE_ISOLATION'
  | 'ANSIBLE_READABLE_PATHS'
  | 'ANSIBLE_PLAYBOOK'
  | 'ANSIBLE_PLAYBOOK_REPO_PATH'
  | 'ANSIBLE_WORK_DIR'
  | 'ISOLATION_UID_RANGE'
  | 'CREDENTIAL_MASTER_PASSWORD_FILE'
> & { JOB_RUNNER_CONCURRENCY?: number }

const TRIAL_MS = 30_000
/** Ansible's workers synchronize with semaphores, and ssh resolves its own user name. */
const PROBE_PROGRAM = 'import multiprocessing, os, pwd; multiprocessing.Lock(); pwd.getpwuid(os.getuid())'
const MAX_REASON_LENGTH = 300

/**
 * Chooses the isolation of runs on this machine by starting ansible-playbook in each candidate. Never chooses `none` by itself.
 * @throws Error with the next step when the mode that the operator set cannot be used
 */
export async function chooseIsolation(config: IsolationConfig, ansible: AnsiblePaths): Promise<Isolation> {
  const wanted = config.ANSIBLE_ISOLATION
  if (wanted === 'none') return noIsolation('ANSIBLE_ISOLATION is none')
  const makers = {
    bubblewrap: async () => bubblewrap({ ...(await visiblePaths(config, ansible)), hasOwnProc: await canMountProc() }),
    uid: async () =>
      asUser(createUserPool(await readRunAccounts(config.ISOLATION_UID_RANGE, config.JOB_RUNNER_CONCURRENCY ?? 1))),
  }
  const reasons: string[] = []
  for (const mode of wanted === 'auto' ? (['bubblewrap', 'uid'] as const) : [wanted]) {
    try {
      const isolation = await makers[mode]()
      await probeIsolation(isolation, config, ansible.python)
      return { ...isolation, weakness: reasons[0] ?? null }
    } catch (error) {
      reasons.push(`${mode} cannot be used: ${(error as Error).message.trim().slice(-MAX_REASON_LENGTH)}`)
    }
  }
  if (wanted !== 'auto') throw new Error(`ANSIBLE_ISOLATION=${reasons[0]}. Fix this, or set ANSIBLE_ISOLATION to auto or none.`)
  // Only an administrator of this machine decides to run playbooks of users without isolation.
  return noSandbox(reasons.join('; '))
}

/** Containers hide parts of /proc by mounts over it. A user namespace in them must not mount another one, which would show these parts. */
async function canMountProc(): Promise<boolean> {
  const user = process.getuid?.() === 0 ? [] : ['--unshare-user']
  const argv = ['bwrap', ...user, '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', 'true']
  return await runProgram(argv, { timeoutMs: TRIAL_MS }).then(
    ({ code }) => code === 0,
    () => false,
  )
}

/** Which paths of this machine a run can read, and which it must not. */
export async function visiblePaths(
  config: IsolationConfig,
  { executable, python, modules }: AnsiblePaths,
): Promise<VisiblePaths> {
  const readable = [
    ...[config.ANSIBLE_PLAYBOOK, executable, modules && dirname(modules)]
      .filter((path) => path !== null)
      .filter((path) => isAbsolute(path)),
    ...(python ? await pathsOf(python) : []),
    ...new Set([playbookRoot(config), ANSIBLE_CONTENT, dirname(PROBE_SCRIPT)]),
    ...config.ANSIBLE_READABLE_PATHS,
  ]
  // A secret of the product may be in a file below a readable path.
  const files = Object.entries(process.env).flatMap(([name, value]) => (/_FILE$/.test(name) && value ? [value] : []))
  const own = [process.env.MUSTER_CONFIG, config.CREDENTIAL_MASTER_PASSWORD_FILE].filter((path) => path !== undefined)
  return { readable, hidden: [...own, ...files] }
}

/** Starts ansible-playbook and Python as a run would. @throws Error with the message of the program that failed */
async function probeIsolation(
  isolation: Isolation,
  { ANSIBLE_WORK_DIR: workDir, ANSIBLE_PLAYBOOK: file }: IsolationConfig,
  python: string | null,
): Promise<void> {
  const trials = [[file, '--version'], ...(python ? [[python, '-I', '-c', PROBE_PROGRAM]] : [])]
  const user = isolation.user()
  const directory = await createRunDirectory(workDir, 'trial0', user)
  const { dir, sshDir, marker } = directory
  let masters: MastersOfRun = { sshDir, wrapCommand: (argv) => argv, env: environmentOf(dir) }
  try {
    if (isolation.mode === 'uid') await chmod(workDir, 0o711)
    const wrapCommand = await isolation.prepare(directory)
    masters = { ...masters, wrapCommand }
    const [name = '', value] = marker.split(/=(.*)/s)
    const env = { PATH: process.env.PATH, HOME: `${dir}/home`, LC_ALL: 'C.UTF-8', [name]: value }
    await Promise.all(
      trials.map(async (argv) => {
        const { program, leader, exited } = await spawnIsolated(argv, dir, { isolation, wrapCommand, env })
        const timer = setTimeout(() => {
          program.kill('SIGKILL')
          // With a monitor process, the command itself keeps the pipes open.
          void leader.then((pid) => sendSignal(-pid, 'SIGKILL'))
        }, TRIAL_MS)
        const [stderr, , code] = await Promise.all([text(program.outputs[1]!), text(program.outputs[0]!), exited])
        clearTimeout(timer)
        if (code !== 0) throw new Error(stderr || `${argv[0]} ended with ${code}`)
      }),
    )
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    const missing = code === 'ENOENT' ? path : /failed to execute ([^/\s]+):/.exec(message)?.[1]
    throw missing ? new Error(`there is no ${missing}: install the package that has it (bubblewrap, util-linux)`) : error
  } finally {
    await killLeftoverProcesses({ masters, marker, user }, async () => {})
    await directory.remove()
    isolation.release(user)
  }
}

/** The paths that a Python reads. */
async function pathsOf(python: string): Promise<string[]> {
  const program = 'import sys; print(*{sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *sys.path}, sep="\\n")'
  const { stdout } = await runProgram([python, '-I', '-c', program], { timeoutMs: TRIAL_MS, env: {} })
  return stdout.split('\n').filter((path) => isAbsolute(path) && path !== sep)
}
