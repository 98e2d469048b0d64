import { closeMasters } from './masters.ts'
import { endProcessesWith } from './processes.ts'

/**
 * End everything that a run left, in the order that works: first what could start more, on this machine; then, over the ssh
 * connections that are still open, what runs on nodes; then the connections; and whatever is still there.
 * @returns how many processes of this machine were ended
 */
export async function endLeftovers(sshDir: string, marker: string, endRemote: () => Promise<void>): Promise<number> {
  const ended = await endProcessesWith(marker, { spare: 'ssh' })
  await endRemote()
  await closeMasters(sshDir)
  return ended + (await endProcessesWith(marker))
}
