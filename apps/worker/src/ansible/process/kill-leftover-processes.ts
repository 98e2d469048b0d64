import { execFile } from 'node:child_process'
import { become } from '../isolation/isolation.ts'
import type { RunDirectory, RunUser } from '../run-directory/run-paths.ts'
import { closeControlMasters } from './control-masters.ts'
import { killProcesses } from './processes.ts'

type RunTraces = Pick<RunDirectory, 'sshDir' | 'marker' | 'user'>

/**
 * Kills everything that a run left behind. The order matters: local processes that could start more, then remote processes over
 * the SSH connections that are still open, then the connections, then the rest.
 * @returns the number of local processes that were killed
 */
export async function killLeftoverProcesses(
  { sshDir, marker, user }: RunTraces,
  killRemote: () => Promise<void>,
): Promise<number> {
  const killed = await killProcesses(marker, { except: 'ssh' })
  await killRemote()
  await closeControlMasters(sshDir)
  if (user) await killAllOfUser(user)
  return killed + (await killProcesses(marker))
}

/**
 * Cleans up after a run that exited by itself with no task in progress. Its background processes are killed when they belong to
 * another user: they could change the run directory while the worker removes it.
 */
export async function cleanUpFinishedRun({ sshDir, user }: RunTraces): Promise<void> {
  await closeControlMasters(sshDir)
  if (user) await killAllOfUser(user)
}

/** Signals every process of a user that only this run has. None escapes by clearing its environment or by forking. */
const killAllOfUser = (user: RunUser): Promise<void> => {
  const [file, ...args] = become(user, ['sh', '-c', 'kill -KILL -1'])
  return new Promise((resolve) => execFile(file!, args, () => resolve()))
}
