import fs from 'node:fs'
import path from 'node:path'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { waitFor } from './wait.ts'

/** `run.json`: the supervisor of a data directory, the URL of its console, and the child processes it started. */
export type Instance = { supervisor: ProcessIdentity; url: string; children: (ProcessIdentity & { name: string })[] }

export type Claim =
  | { claimed: true; update: (change: Partial<Instance>) => void; release: () => void }
  | { claimed: false; url: string }

/**
 * Claims a data directory for this supervisor. Returns `claimed: false` when a live supervisor holds it.
 * Ends the children of a killed supervisor first; compares start times, because a pid may have been reused.
 * @param print receives a line when there are leftover processes
 */
export async function claimDataDir(dataDir: string, print: (line: string) => void): Promise<Claim> {
  const file = path.join(dataDir, 'run.json')
  let instance: Instance = { supervisor: identify(process.pid)!, url: '', children: [] }
  for (;;) {
    try {
      fs.writeFileSync(file, JSON.stringify(instance), { flag: 'wx', mode: 0o600 })
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const predecessor = read(file)
    if (predecessor && isAlive(predecessor.supervisor)) return { claimed: false, url: predecessor.url }
    // Concurrent starts race here; one rename succeeds. If it moved a live supervisor's new file, move it back.
    const moved = `${file}.${process.pid}`
    try {
      fs.renameSync(file, moved)
      const current = read(moved)
      if (current && isAlive(current.supervisor)) {
        fs.renameSync(moved, file)
        continue
      }
    } catch {
      continue
    }
    const leftovers = predecessor?.children.filter(isAlive) ?? []
    if (leftovers.length) {
      print(`The previous start was killed. Stopping its processes: ${leftovers.map((child) => child.name).join(', ')}`)
      await endAll(leftovers)
    }
    fs.rmSync(moved, { force: true })
  }
  const update = (change: Partial<Instance>) => {
    instance = { ...instance, ...change }
    fs.writeFileSync(`${file}.new`, JSON.stringify(instance), { mode: 0o600 })
    fs.renameSync(`${file}.new`, file)
  }
  return { claimed: true, update, release: () => fs.rmSync(file, { force: true }) }
}

async function endAll(processes: ProcessIdentity[]): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const child of processes) if (isAlive(child)) sendSignal(child, signal)
    if (await waitFor(() => !processes.some(isAlive), 15_000)) break
  }
}

/** SIGTERM goes to the process; SIGKILL goes to its whole process group. */
function sendSignal({ pid }: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(signal === 'SIGKILL' ? -pid : pid, signal)
  } catch {
    // already ended
  }
}

/** Undefined for a file that is not valid, such as one truncated by a full disk. */
function read(file: string): Instance | undefined {
  try {
    const instance = JSON.parse(fs.readFileSync(file, 'utf8')) as Instance
    return instance.supervisor && Array.isArray(instance.children) ? instance : undefined
  } catch {
    return undefined
  }
}
