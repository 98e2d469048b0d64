import { opendir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { pathEscapeReason } from '@muster/core/templates'

/** A run's playbook cannot be provided. The message is for the operator. */
export class SourceError extends Error {}

/** Limits of a checked-out repository. */
export type RepositoryLimits = { maxBytes: number; maxEntries: number }
export const REPOSITORY_LIMITS: RepositoryLimits = { maxBytes: 500 * 1024 * 1024, maxEntries: 20_000 }

/** Null within the limits. */
export function tooLargeReason(
  { bytes, entries }: { bytes: number; entries: number },
  { maxBytes, maxEntries }: RepositoryLimits,
): string | null {
  if (entries > maxEntries) return `The repository has more than ${maxEntries} files and folders.`
  return bytes > maxBytes ? `The repository has more than ${Math.round(maxBytes / 1024 / 1024)} MiB.` : null
}

/**
 * Resolves the real path of the file `path` below `root`; links are followed.
 * @param where describes `root` in messages
 * @throws SourceError when it leaves `root`, does not exist, or is not a file
 */
export async function confined(root: string, path: string, where = 'its folder'): Promise<string> {
  const shown = JSON.stringify(path.slice(0, 200))
  const reason = pathEscapeReason(path)
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
 * Asserts that no link below `root` leaves it, and that it contains only files, folders and links.
 * @throws SourceError with the first violation, or the exceeded limit
 */
export async function assertConfined(root: string, limits = REPOSITORY_LIMITS): Promise<void> {
  const top = await realpath(root)
  let entries = 0
  let bytes = 0
  for await (const entry of await opendir(top, { recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const shown = JSON.stringify(path.slice(top.length + 1, top.length + 200))
    if (entry.isSymbolicLink()) {
      const real = await realpath(path).catch(() => null)
      if (!real || !isBelow(top, real)) throw new SourceError(`${shown} is a link that leads out of the repository, or nowhere.`)
    } else if (entry.isFile()) bytes += (await stat(path)).size
    else if (!entry.isDirectory()) throw new SourceError(`${shown} is neither a file nor a folder.`)
    const tooLarge = tooLargeReason({ bytes, entries: ++entries }, limits)
    if (tooLarge) throw new SourceError(tooLarge)
  }
}

const isBelow = (top: string, real: string) => real === top || real.startsWith(top + sep)
