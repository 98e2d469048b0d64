import { rm } from 'node:fs/promises'
import { waitUntil } from './commands.ts'
import { deleteLink } from './namespaces/network.ts'
import { descendants } from './processes.ts'
import { identify, isAlive, killProcess, type LabState, readStates } from './registry.ts'

/** Ends every process of the lab, then removes its link and directory. Idempotent; works on a partly started lab too. */
export async function tearDown(state: LabState): Promise<void> {
  // Without pid namespaces, sessions that left their process group can be found only while their parents are alive.
  const descendantPids =
    state.mode === 'loopback' ? await Promise.all(state.supervisors.filter(isAlive).map(({ pid }) => descendants(pid))) : []
  for (const descendant of descendantPids.flat().map(identify)) killProcess(descendant)
  // Innermost first: PID 1 of a pid namespace exits only after all its processes.
  for (const supervisor of state.supervisors.toReversed()) killProcess(supervisor)
  await waitUntil(`the processes of lab ${state.id} to end`, () => !state.supervisors.some(isAlive))
  if (state.link) await deleteLink(state.link)
  // Another process may remove the same lab concurrently.
  await rm(state.dir, { recursive: true, force: true, maxRetries: 3 })
}

/** Removes labs of exited owners and returns the others. Every entry point calls it first. */
export async function removeOrphanedLabs(): Promise<LabState[]> {
  const running: LabState[] = []
  for (const state of await readStates()) {
    if (isAlive(state.owner)) running.push(state)
    else await tearDown(state)
  }
  return running
}
