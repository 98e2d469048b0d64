import { dirname, isAbsolute } from 'node:path'
import type { Readable } from 'node:stream'
import { ansibleArguments, type JobRun } from '@muster/core/runs'
import { batchesOf } from '@muster/core/templates'
import { sendSignal } from '../../executor/send-signal.ts'
import type { Isolation, WrapCommand } from '../isolation/isolation.ts'
import { spawnIsolated } from '../isolation/spawn-isolated.ts'
import type { RunFiles } from '../run-directory/run-files.ts'
import { type RunDirectory, socketPaths } from '../run-directory/run-paths.ts'
import { ANSIBLE_CONTENT, PROBE_SCRIPT } from '../run-directory/shipped-playbooks.ts'
import { killGroupOf } from './processes.ts'

export type AnsibleProcess = {
  stdout: Readable
  stderr: Readable
  /** JSON lines of the callback plugin. */
  events: Readable
  ansibleStartedAt: Date
  /** Exit code, or 128 + the number of the signal that ended it. */
  exited: Promise<number>
  /** Sends SIGINT now, SIGTERM after half of `graceMs` and SIGKILL after all of it, each to the process group. */
  stop(graceMs: number): void
}

/** The complete environment of a run's processes. From the worker's own environment it takes only PATH. */
export function ansibleEnvironment(
  ansiblePlaybook: string,
  { dir, sshDir, marker }: RunDirectory,
  files: RunFiles,
  { serial, maxFailPercentage }: Pick<JobRun, 'serial' | 'maxFailPercentage'>,
): NodeJS.ProcessEnv {
  const locale = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'
  const [markerName = '', markerValue] = marker.split(/=(.*)/s)
  return {
    // The directory of ansible-playbook comes first: in a virtual environment it also holds python3.
    PATH: isAbsolute(ansiblePlaybook) ? `${dirname(ansiblePlaybook)}:${process.env.PATH}` : process.env.PATH,
    HOME: `${dir}/home`,
    LANG: locale,
    LC_ALL: locale,
    TMPDIR: `${dir}/tmp`,
    ANSIBLE_CONFIG: files.ansibleConfig,
    ANSIBLE_HOME: `${dir}/home`,
    [markerName]: markerValue,
    MUSTER_EVENTS_FD: '3',
    ...(serial === null ? {} : { MUSTER_SERIAL: JSON.stringify(batchesOf(serial)) }),
    ...(maxFailPercentage === null ? {} : { MUSTER_MAX_FAIL_PERCENTAGE: String(maxFailPercentage) }),
    MUSTER_SOCKET: socketPaths(sshDir).secrets,
    MUSTER_PROBE_SCRIPT: PROBE_SCRIPT,
    SSH_ASKPASS: `${ANSIBLE_CONTENT}/plugins/askpass.py`,
    SSH_ASKPASS_REQUIRE: 'force',
    // OpenSSH before 8.4 calls askpass only when DISPLAY is set.
    DISPLAY: 'muster',
  }
}

/** What a run's processes are started with. */
export type LaunchOptions = { isolation: Isolation; wrapCommand: WrapCommand; env: NodeJS.ProcessEnv }

/**
 * Starts ansible-playbook in its own process group.
 * @throws Error of spawn, for example ENOENT
 */
export async function startAnsible(
  ansiblePlaybook: string,
  playbook: string,
  run: JobRun,
  { dir }: RunDirectory,
  files: RunFiles,
  options: LaunchOptions,
): Promise<AnsibleProcess> {
  const argv = [ansiblePlaybook, ...ansibleArguments(run, { ...files, playbook })]
  const { program, leader, exited } = await spawnIsolated(argv, dir, options)
  return {
    stdout: program.outputs[0]!,
    stderr: program.outputs[1]!,
    events: program.outputs[2]!,
    ansibleStartedAt: new Date(),
    exited,
    stop: (graceMs) => void leader.then((pid) => stop(pid, exited, graceMs, options.isolation)),
  }
}

function stop(leader: number, exited: Promise<number>, graceMs: number, { hasPidNamespace }: Isolation): void {
  // A process that has just started may not lead its group yet.
  const send = (name: NodeJS.Signals) => sendSignal(-leader, name) || sendSignal(leader, name)
  // The init of the namespace stays: the cleanup on nodes needs the connections in it.
  const kill = () => (hasPidNamespace ? void killGroupOf(leader) : send('SIGKILL'))
  const timers = [
    setTimeout(() => send('SIGTERM'), graceMs / 2),
    setTimeout(kill, graceMs),
    // When the command had not been started yet.
    setTimeout(() => send('SIGKILL'), graceMs + 1000),
  ]
  send('SIGINT')
  void exited.then(() => timers.forEach(clearTimeout))
}
