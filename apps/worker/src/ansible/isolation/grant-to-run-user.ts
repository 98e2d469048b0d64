import { chmod, lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunPaths, writableDirs } from '../run-directory/run-paths.ts'

/**
 * Lets a run's user read its directories, connect to the sockets in them, and write to the writable folders. Everything else stays
 * owned by the worker, so that a playbook cannot change its own inputs. Links are not followed.
 * @param writable more folders that it may write to
 */
export async function grantToRunUser(paths: RunPaths, writable: string[] = []): Promise<void> {
  const { user, dir, sshDir } = paths
  if (!user) return
  const { uid, gid } = user
  const grant = async (path: string): Promise<void> => {
    const entry = await lstat(path)
    await lchown(path, entry.uid, gid)
    if (entry.isSymbolicLink()) return
    const rights = entry.isSocket() ? 0o700 : entry.mode & 0o500
    await chmod(path, entry.mode | (rights >> 3))
    if (entry.isDirectory()) await Promise.all((await readdir(path)).map((name) => grant(join(path, name))))
  }
  await Promise.all([...new Set([dir, sshDir])].map(grant))
  await Promise.all(
    [...writableDirs(paths), ...writable].map(async (path) => {
      await lchown(path, uid, gid)
    }),
  )
}

/** Makes the worker the owner of files that the run's user wrote. Its processes must be gone. */
export async function returnToWorker(path: string): Promise<void> {
  const entry = await lstat(path)
  await lchown(path, process.getuid!(), process.getgid!())
  if (entry.isDirectory()) for (const name of await readdir(path)) await returnToWorker(join(path, name))
}
