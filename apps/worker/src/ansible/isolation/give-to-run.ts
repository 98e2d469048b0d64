import { chmod, lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writableDirs } from '../run-directory.ts'
import type { RunPlace } from './isolation.ts'

/**
 * Let a run's user read what lies in its directories, ask at the sockets there, and write where a run writes; the rest stays ours,
 * so that a playbook cannot change what it was started with. Links are not followed.
 */
export async function giveToRun(place: RunPlace): Promise<void> {
  const { user, dir, sshDir } = place
  if (!user) return
  const { uid, gid } = user
  const give = async (path: string): Promise<void> => {
    const entry = await lstat(path)
    await lchown(path, entry.uid, gid)
    if (entry.isSymbolicLink()) return
    const rights = entry.isSocket() ? 0o700 : entry.mode & 0o500
    await chmod(path, entry.mode | (rights >> 3))
    if (entry.isDirectory()) await Promise.all((await readdir(path)).map((name) => give(join(path, name))))
  }
  await Promise.all([...new Set([dir, sshDir])].map(give))
  await Promise.all(
    writableDirs(place).map(async (path) => {
      await lchown(path, uid, gid)
    }),
  )
}
