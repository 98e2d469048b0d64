import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { waitFor } from './wait.ts'

/**
 * Shut down a Postgres that runs on `data` and whose owner is gone, and drop the lock file of one that died.
 * The pid in the file may belong to somebody else by now, so it is killed only when it is a Postgres that works in this directory.
 * Throws when it will not end.
 */
export async function stopOrphan(data: string): Promise<void> {
  const lockFile = path.join(data, 'postmaster.pid')
  const pid = readPid(lockFile)
  if (pid === undefined) return
  const orphan = identify(pid)
  if (orphan && worksIn(pid, data)) {
    if (!(await end(orphan)))
      throw new Error(`A Postgres (pid ${pid}) still runs on ${data} and does not end. Stop it, then start again.`)
  }
  fs.rmSync(lockFile, { force: true })
}

async function end(who: ProcessIdentity): Promise<boolean> {
  // Fast shutdown, then the immediate one: the next start recovers from its log.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(who.pid, signal)
    } catch {
      return !isAlive(who)
    }
    if (await waitFor(() => !isAlive(who), signal === 'SIGINT' ? 15_000 : 3_000)) return true
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

/** The postmaster's working directory is its data directory. */
function worksIn(pid: number, data: string): boolean {
  try {
    const here = fs.realpathSync(data)
    if (process.platform === 'linux') return fs.readlinkSync(`/proc/${pid}/cwd`) === here
    return execFileSync('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn'], { encoding: 'utf8' })
      .split('\n')
      .includes(`n${here}`)
  } catch {
    return false
  }
}
