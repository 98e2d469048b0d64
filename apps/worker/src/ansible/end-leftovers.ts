import { execFile } from 'node:child_process'
import { become, type RunUser } from './isolation/isolation.ts'
import { closeMasters } from './masters.ts'
import { endProcessesWith } from './processes.ts'
import type { RunDirectory } from './run-directory.ts'

type Left = Pick<RunDirectory, 'sshDir' | 'marker' | 'user'>

/**
 * End everything that a run left, in the order that works: first what could start more, on this machine; then, over the ssh
 * connections that are still open, what runs on nodes; then the connections; and whatever is still there.
 * @returns how many processes of this machine were ended
 */
export async function endLeftovers({ sshDir, marker, user }: Left, endRemote: () => Promise<void>): Promise<number> {
  const ended = await endProcessesWith(marker, { spare: 'ssh' })
  await endRemote()
  await closeMasters(sshDir)
  if (user?.isItsOwn) await endAllOf(user)
  return ended + (await endProcessesWith(marker))
}

/**
 * The same for a run that ended by itself and has nothing under way. What it put into the background is ended where its processes
 * are another user's: we are going to remove a directory that they could change meanwhile.
 */
export async function endIdle({ sshDir, marker, user }: Left): Promise<void> {
  await closeMasters(sshDir)
  if (user?.isItsOwn) await endAllOf(user)
  else if (user) await endProcessesWith(marker)
}

/** As that user, to all that it may signal: none can slip away, by an emptied environment or by starting others. */
const endAllOf = (user: RunUser): Promise<void> => {
  const [file, ...args] = become(user, ['sh', '-c', 'kill -KILL -1'])
  return new Promise((resolve) => execFile(file!, args, () => resolve()))
}
