import type { ChildProcess } from 'node:child_process'
import { waitUntil } from '../commands.ts'
import { descendants } from '../processes.ts'
import { identify, killProcess } from '../registry.ts'

/** Kills the program that nsenter runs, and waits until nsenter exits. Killing nsenter would leave the program running. */
export async function endInLab(nsenter: ChildProcess): Promise<void> {
  const hasEnded = () => nsenter.exitCode !== null || nsenter.signalCode !== null
  if (hasEnded()) return
  nsenter.ref()
  // It may not have started the program yet.
  await waitUntil('a program of the lab to end', async () => {
    for (const pid of await descendants(nsenter.pid!)) killProcess(identify(pid))
    return hasEnded()
  })
}
