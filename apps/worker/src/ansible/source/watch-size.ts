import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RepositoryLimits, SourceError, tooLargeReason } from './confine.ts'

const INTERVAL_MS = 200

/**
 * Measures a folder while a program writes to it.
 * @returns `exceeded` is aborted with a SourceError when the folder exceeds a limit
 */
export function watchSize(root: string, limits: RepositoryLimits): { exceeded: AbortSignal; stop(): void } {
  const controller = new AbortController()
  let timer: NodeJS.Timeout
  let isStopped = false
  const check = async () => {
    const reason = await exceededLimit(root, limits).catch(() => null)
    if (reason) controller.abort(new SourceError(reason))
    else if (!isStopped) schedule()
  }
  const schedule = () => {
    timer = setTimeout(check, INTERVAL_MS).unref()
  }
  schedule()
  return {
    exceeded: controller.signal,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Files may vanish meanwhile. */
async function exceededLimit(root: string, limits: RepositoryLimits): Promise<string | null> {
  let [bytes, entries] = [0, 0]
  for await (const entry of await opendir(root, { recursive: true })) {
    if (entry.isFile())
      bytes += await stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      )
    const reason = tooLargeReason({ bytes, entries: ++entries }, limits)
    if (reason) return reason
  }
  return null
}
