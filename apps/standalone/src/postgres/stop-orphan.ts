import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { identify, isAlive, type ProcessIdentity } from '../process-identity.ts'
import { waitFor } from '../wait.ts'

/**
 * Stops an orphaned Postgres that runs on `data`, and removes a stale lock file.
 * The pid in the lock file may have been reused, so only a process with the working directory `data` is signaled.
 * Throws when the process does not end.
 */
export async function stopOrphan(data: string): Promise<void> {
  const lockFile = path.join(data, 'postmaster.pid')
  const pid = readPid(lockFile)
  if (pid === undefined) return
  const orphan = identify(pid)
  if (orphan && runsOn(pid, data)) {
    if (!(await end(orphan)))
      throw new Error(`Postgres (pid ${pid}) still runs on ${data} and does not stop. Stop it, then start again.`)
  }
  fs.rmSync(lockFile, { force: true })
}

async function end(postmaster: ProcessIdentity): Promise<boolean> {
  // Fast shutdown, then immediate shutdown: the next start recovers from the WAL.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(postmaster.pid, signal)
    } catch {
      return !isAlive(postmaster)
    }
    if (await waitFor(() => !isAlive(postmaster), signal === 'SIGINT' ? 15_000 : 3_000)) return true
  }
  return false
}

function readPid(lockFile: string): number | undefined {
  try {
    const pid = Number(fs.readFileSync(lockFile, 'utf8').split('\n')[0])
    return Number.isInteger(pid) && pid > 1 ? pid : undefined
  } catch {
    return undefined
  }
}

/** Whether the process runs on this data directory: a postmaster's working directory is its data directory. */
function runsOn(pid: number, data: string): boolean {
  try {
    const dir = fs.realpathSync(data)
    if (process.platform === 'linux') return fs.readlinkSync(`/proc/${pid}/cwd`) === dir
    return execFileSync('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn'], { encoding: 'utf8' })
      .split('\n')
      .includes(`n${dir}`)
  } catch {
    return false
  }
}
