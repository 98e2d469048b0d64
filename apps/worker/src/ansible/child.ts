import { dirname, isAbsolute } from 'node:path'
import type { Readable } from 'node:stream'
import { ansibleArguments, batchesOf, type JobRun } from '@muster/core/jobs'
import type { Enter, Isolation } from './isolation/isolation.ts'
import { startInside } from './isolation/start-inside.ts'
import { signal } from './processes.ts'
import type { RunDirectory } from './run-directory.ts'
import { type RunFiles, socketPaths } from './run-files.ts'

export type Child = {
  stdout: Readable
  stderr: Readable
  /** Lines of the callback plugin. */
  events: Readable
  execAt: Date
  /** Exit code, or 128 + the number of the signal that ended it. */
  exited: Promise<number>
  /** Ask for an end: SIGINT now, SIGTERM after half of `graceMs`, SIGKILL after all of it, each to the process group. */
  stop(graceMs: number): void
}

/** The whole environment of a run's processes: of this process's own there is PATH and nothing else. */
export function runEnvironment(
  { ansiblePlaybook, playbooks }: { ansiblePlaybook: string; playbooks: string },
  { dir, sshDir, marker }: RunDirectory,
  files: RunFiles,
  { serial, maxFailPercentage }: Pick<JobRun, 'serial' | 'maxFailPercentage'>,
): NodeJS.ProcessEnv {
  const locale = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'
  const [markerName = '', markerValue] = marker.split(/=(.*)/s)
  return {
    // Its own directory first: of a virtual environment that is where its python3 is.
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
    SSH_ASKPASS: `${playbooks}/plugins/askpass.py`,
    SSH_ASKPASS_REQUIRE: 'force',
    // OpenSSH before 8.4 asks only where there is a display.
    DISPLAY: 'muster',
  }
}

/** How a run's processes are started. */
export type Start = { isolation: Isolation; enter: Enter; env: NodeJS.ProcessEnv }

/**
 * Start ansible-playbook in its own process group.
 * @throws Error of spawn, for example ENOENT
 */
export async function startAnsible(
  ansiblePlaybook: string,
  playbook: string,
  run: JobRun,
  { dir }: RunDirectory,
  files: RunFiles,
  start: Start,
): Promise<Child> {
  const argv = [ansiblePlaybook, ...ansibleArguments(run, { ...files, playbook })]
  const { child, leader, exited } = await startInside(argv, dir, start)
  return {
    stdout: child.stdout!,
    stderr: child.stderr!,
    events: child.stdio[3] as Readable,
    execAt: new Date(),
    exited,
    stop: (graceMs) => void leader.then((pid) => stop(pid, exited, graceMs)),
  }
}

function stop(leader: number, exited: Promise<number>, graceMs: number): void {
  // One that has only just begun may not lead its group yet.
  const tell = (name: NodeJS.Signals) => signal(-leader, name) || signal(leader, name)
  const timers = [setTimeout(() => tell('SIGTERM'), graceMs / 2), setTimeout(() => tell('SIGKILL'), graceMs)]
  tell('SIGINT')
  void exited.then(() => timers.forEach(clearTimeout))
}
