import { opendir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { whyNotInside } from '@muster/core/jobs'

/** Why a run cannot have its playbook, for the operator. */
export class SourceError extends Error {}

// What a repository may be at most when it is checked out; sizes in bytes.
const MAX_ENTRIES = 20_000
const MAX_SIZE = 500 * 1024 * 1024

/**
 * The real path of the file `path` below `root`, with every link on the way followed.
 * @param where what people call `root`
 * @throws SourceError when it leads out of `root`, is not there, or is no file
 */
export async function confined(root: string, path: string, where = 'its folder'): Promise<string> {
  const shown = JSON.stringify(path.slice(0, 200))
  const reason = whyNotInside(path)
  if (reason) throw new SourceError(`The path of the playbook, ${shown}, ${reason}.`)
  const top = await realpath(root)
  const real = await realpath(join(top, path)).catch(() => null)
  if (real && !isBelow(top, real)) throw new SourceError(`The playbook ${shown} is a link that leads out of its folder.`)
  if (!real || !(await stat(real)).isFile())
    throw new SourceError(
      `The playbook ${shown} could not be found in ${where}: put it there, or correct the path in the template.`,
    )
  return real
}

/**
 * See that nothing below `root` leads out of it or is something else than a file, folder or link.
 * @throws SourceError naming the first that does, or the limit that is passed
 */
export async function refuseWaysOut(root: string): Promise<void> {
  const top = await realpath(root)
  let entries = 0
  let size = 0
  for await (const entry of await opendir(top, { recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const shown = JSON.stringify(path.slice(top.length + 1, top.length + 200))
    if (entry.isSymbolicLink()) {
      const real = await realpath(path).catch(() => null)
      if (!real || !isBelow(top, real)) throw new SourceError(`${shown} is a link that leads out of the repository, or nowhere.`)
    } else if (entry.isFile()) size += (await stat(path)).size
    else if (!entry.isDirectory()) throw new SourceError(`${shown} is neither a file nor a folder.`)
    if (++entries > MAX_ENTRIES) throw new SourceError(`The repository has more than ${MAX_ENTRIES} files and folders.`)
    if (size > MAX_SIZE) throw new SourceError(`The repository has more than ${MAX_SIZE / 1024 / 1024} MiB.`)
  }
}

const isBelow = (top: string, real: string) => real === top || real.startsWith(top + sep)
