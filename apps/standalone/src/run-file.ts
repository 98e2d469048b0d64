import fs from 'node:fs'
import path from 'node:path'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { waitFor } from './wait.ts'

/** `run.json`: who supervises this data directory, where its console is, and which processes it has started. */
export type Run = { supervisor: ProcessIdentity; url: string; children: (ProcessIdentity & { name: string })[] }

export type Claim =
  | { claimed: true; update: (change: Partial<Run>) => void; release: () => void }
  | { claimed: false; url: string }

/**
 * Become the one supervisor of a data directory. What a killed predecessor left running is ended first, after a look at each
 * process' start time: its pid may belong to somebody else by now. Not claimed when a predecessor lives.
 * @param say gets a line when there was something to clean up
 */
export async function claimRun(dataDir: string, say: (line: string) => void): Promise<Claim> {
  const file = path.join(dataDir, 'run.json')
  let run: Run = { supervisor: identify(process.pid)!, url: '', children: [] }
  for (;;) {
    try {
      fs.writeFileSync(file, JSON.stringify(run), { flag: 'wx', mode: 0o600 })
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const predecessor = read(file)
    if (predecessor && isAlive(predecessor.supervisor)) return { claimed: false, url: predecessor.url }
    // Two that start at once both come here; the rename has one winner, who must not have caught the other's new file.
    const mine = `${file}.${process.pid}`
    try {
      fs.renameSync(file, mine)
      const caught = read(mine)
      if (caught && isAlive(caught.supervisor)) {
        fs.renameSync(mine, file)
        continue
      }
    } catch {
      continue
    }
    const left = predecessor?.children.filter(isAlive) ?? []
    if (left.length) {
      say(`An earlier start was killed; ending what it left: ${left.map((child) => child.name).join(', ')}`)
      await endAll(left)
    }
    fs.rmSync(mine, { force: true })
  }
  const update = (change: Partial<Run>) => {
    run = { ...run, ...change }
    fs.writeFileSync(`${file}.new`, JSON.stringify(run), { mode: 0o600 })
    fs.renameSync(`${file}.new`, file)
  }
  return { claimed: true, update, release: () => fs.rmSync(file, { force: true }) }
}

async function endAll(left: ProcessIdentity[]): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const child of left) if (isAlive(child)) signalEach(child, signal)
    if (await waitFor(() => !left.some(isAlive), 15_000)) break
  }
}

/** The process, and with the last signal its whole group. */
function signalEach({ pid }: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(signal === 'SIGKILL' ? -pid : pid, signal)
  } catch {
    // it has just ended
  }
}

/** Undefined when it is not what we write: a full disk can leave half of one. */
function read(file: string): Run | undefined {
  try {
    const run = JSON.parse(fs.readFileSync(file, 'utf8')) as Run
    return run.supervisor && Array.isArray(run.children) ? run : undefined
  } catch {
    return undefined
  }
}
