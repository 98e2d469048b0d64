import { closeMasters } from './masters.ts'
import { endProcessesWith } from './processes.ts'
import type { RunDirectory } from './run-directory.ts'

type Left = Pick<RunDirectory, 'sshDir' | 'marker' | 'user'>

// One that empties its environment can still be told by its user.
const ownUid = ({ user }: Left) => (user?.isItsOwn ? user.uid : null)

/**
 * End everything that a run left, in the order that works: first what could start more, on this machine; then, over the ssh
 * connections that are still open, what runs on nodes; then the connections; and whatever is still there.
 * @returns how many processes of this machine were ended
 */
export async function endLeftovers(left: Left, endRemote: () => Promise<void>): Promise<number> {
  const { sshDir, marker } = left
  const ended = await endProcessesWith(marker, { uid: ownUid(left), spare: 'ssh' })
  await endRemote()
  await closeMasters(sshDir)
  return ended + (await endProcessesWith(marker, { uid: ownUid(left) }))
}

/**
 * The same for a run that ended by itself and has nothing under way. What it put into the background is ended where its processes
 * are another user's: we are going to remove a directory that they could change meanwhile.
 */
export async function endIdle(left: Left): Promise<void> {
  await closeMasters(left.sshDir)
  if (left.user) await endProcessesWith(left.marker, { uid: ownUid(left) })
}
