import { rm } from 'node:fs/promises'
import { until } from './commands.ts'
import { cutCable } from './namespaces/network.ts'
import { descendants } from './processes.ts'
import { isAlive, killExactly, type LabState, readStates, refTo } from './registry.ts'

/** Ends every process of the lab, then removes its link and its directory. Works on a half-built lab as well, and twice. */
export async function tearDown(state: LabState): Promise<void> {
  // Where users may have no pid namespace, sessions that left their process group are found while their parents live.
  const strays =
    state.mode === 'loopback' ? await Promise.all(state.keepers.filter(isAlive).map(({ pid }) => descendants(pid))) : []
  for (const stray of strays.flat().map(refTo)) killExactly(stray)
  // Innermost first: the kernel ends a pid namespace with its PID 1, and returns from that only when all are gone.
  for (const keeper of state.keepers.toReversed()) killExactly(keeper)
  await until(`the processes of lab ${state.id} to end`, () => !state.keepers.some(isAlive))
  if (state.link) await cutCable(state.link)
  // Two sweeps may meet here.
  await rm(state.dir, { recursive: true, force: true, maxRetries: 3 })
}

/** Removes the labs whose owner is gone, and returns those that live. Every entry point calls it first. */
export async function sweep(): Promise<LabState[]> {
  const living: LabState[] = []
  for (const state of await readStates()) {
    if (isAlive(state.owner)) living.push(state)
    else await tearDown(state)
  }
  return living
}
