import { runProgram } from '../../executor/executor.ts'
import { become } from '../isolation/isolation.ts'
import type { RunDirectory, RunUser } from '../run-directory/run-paths.ts'
import { closeControlMasters, type MastersOfRun } from './control-masters.ts'
import { killProcesses } from './processes.ts'

export type RunTraces = Pick<RunDirectory, 'marker' | 'user'> & { masters: MastersOfRun }

/**
 * Kills everything that a run left behind. The order matters: local processes that could start more, then remote processes over
 * the SSH connections that are still open, then the connections, then the rest.
 * @returns the number of local processes that were killed
 */
export async function killLeftoverProcesses(
  { masters, marker, user }: RunTraces,
  killRemote: () => Promise<void>,
): Promise<number> {
  const killed = await killProcesses(marker, { except: 'ssh' })
  await killRemote()
  await closeControlMasters(masters)
  if (user) await killAllOfUser(user)
  return killed + (await killProcesses(marker))
}

/**
 * Cleans up after a run that exited by itself with no task in progress. Its background processes are killed when they belong to
 * another user: they could change the run directory while the worker removes it.
 */
export async function cleanUpFinishedRun({ masters, user }: RunTraces): Promise<void> {
  await closeControlMasters(masters)
  if (user) await killAllOfUser(user)
}

/** Signals every process of a user that only this run has. None escapes by clearing its environment or by forking. */
export async function killAllOfUser(user: RunUser): Promise<void> {
  await runProgram(become(user, ['sh', '-c', 'kill -KILL -1'])).catch(() => {})
}
