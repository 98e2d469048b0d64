import { runProgram } from '../../executor/executor.ts'
import { become, type Isolation } from '../isolation/isolation.ts'
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
  // Keeps the SSH connections and the inits of their PID namespaces.
  const killed = await killProcesses(marker, { except: ['ssh', 'bwrap'] })
  await killRemote()
  await closeControlMasters(masters)
  if (user) await killAllOfUser(user)
  return killed + (await killProcesses(marker))
}

/**
 * Cleans up after a run that exited by itself with no task in progress. Background processes of an isolated run are killed: they would
 * keep the worker's network, and could change the run directory while the worker removes it. Others stay: they may be services that
 * the playbook has started on a local node.
 */
export async function cleanUpFinishedRun({ masters, marker, user }: RunTraces, isolation: Isolation): Promise<void> {
  await closeControlMasters(masters)
  if (user) await killAllOfUser(user)
  if (isolation.hasPidNamespace) await killProcesses(marker)
}

/** Signals every process of a user that only this run has. None escapes by clearing its environment or by forking. */
export async function killAllOfUser(user: RunUser): Promise<void> {
  await runProgram(become(user, ['sh', '-c', 'kill -KILL -1'])).catch(() => {})
}
