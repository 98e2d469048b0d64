import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { PlannedNode } from './plan.ts'
import type { SlurmState } from './slurm/plan.ts'
import type { LabCredentials, LabMode } from './types.ts'

/** Identifies a process even when its pid is reused later. `start` is in clock ticks since boot. */
export interface ProcessRef {
  pid: number
  start: string
}

export interface NodeState extends PlannedNode {
  host: string
  port: number
}

/** Everything that another process needs to use or remove a lab; stored in `<dir>/state.json`. */
export interface LabState {
  id: string
  mode: LabMode
  dir: string
  createdAt: string
  owner: ProcessRef
  /** Processes that all processes of the lab end with, outermost first. */
  supervisors: ProcessRef[]
  /** x in 10.77.x.0/24. */
  subnet: number | null
  /** Name of the host's end of the veth link. */
  link: string | null
  nodes: NodeState[]
  bastion: { name: string; host: string; port: number } | null
  slurm: SlurmState | null
  folders: { folder: string; path: string }[]
  sharedFolder: string | null
  credentials: LabCredentials
}

/** Directory of this user's labs; `MUSTER_LAB_DIR` overrides it. Not under /run, because labs mount their own /run. */
export function labsDir(): string {
  return process.env.MUSTER_LAB_DIR ?? `/tmp/muster-lab-${process.getuid?.() ?? 'user'}`
}

/** Creates the labs' directory. Throws when it belongs to another user or is accessible to others. */
export async function ensureLabsDir(): Promise<string> {
  const dir = labsDir()
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const { uid, mode } = await stat(dir)
  if (uid !== process.getuid?.() || mode & 0o077) {
    throw new Error(
      `${dir} belongs to another user or is accessible to others. Remove it, or set MUSTER_LAB_DIR to a private directory.`,
    )
  }
  return dir
}

/** Writes the state atomically. A lab's directory never exists without a state file. */
export async function saveState(state: LabState): Promise<void> {
  const fresh = `${state.dir}.new-${process.pid}`
  const text = `${JSON.stringify(state, null, 2)}\n`
  try {
    await writeFile(path.join(state.dir, 'state.json.new'), text, { mode: 0o600 })
    await rename(path.join(state.dir, 'state.json.new'), path.join(state.dir, 'state.json'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await mkdir(fresh, { mode: 0o700 })
    await writeFile(path.join(fresh, 'state.json'), text, { mode: 0o600 })
    await rename(fresh, state.dir)
  }
}

/** Returns the states of all labs, running or not. Removes incomplete directories of processes that have exited. */
export async function readStates(): Promise<LabState[]> {
  const dir = await ensureLabsDir()
  const states: LabState[] = []
  for (const entry of await readdir(dir)) {
    const creator = /\.new-(\d+)$/.exec(entry)
    if (creator) {
      if (startTimeOf(Number(creator[1])) === null) await rm(path.join(dir, entry), { recursive: true, force: true })
      continue
    }
    const text = await readFile(path.join(dir, entry, 'state.json'), 'utf8').catch(() => null)
    if (text !== null) states.push(JSON.parse(text))
  }
  return states
}

/** Start time of a process in clock ticks since boot, or as a date without /proc; null when it has exited or is a zombie. */
export function startTimeOf(pid: number): string | null {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim() || null
  try {
    // The command name, in parentheses, may contain any character; the fields after it are fixed.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19]!
  } catch {
    return null
  }
}

export function identify(pid: number): ProcessRef {
  return { pid, start: startTimeOf(pid) ?? 'gone' }
}

export function isAlive(process: ProcessRef): boolean {
  return startTimeOf(process.pid) === process.start
}

/** Kills exactly this process, if it is still running. */
export function killProcess(target: ProcessRef, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (!isAlive(target)) return
  try {
    process.kill(target.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
