import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { PlannedNode } from './plan.ts'
import type { LabCredentials, LabMode } from './types.ts'

/** A process that cannot be mistaken for a later one with the same pid. `start` is in clock ticks since boot. */
export interface ProcessRef {
  pid: number
  start: string
}

export interface NodeState extends PlannedNode {
  host: string
  port: number
}

/** Everything that another process needs to use or remove a lab; lives in `<dir>/state.json`. */
export interface LabState {
  id: string
  mode: LabMode
  dir: string
  createdAt: string
  owner: ProcessRef
  /** Processes whose death ends the lab's processes, outermost first. */
  keepers: ProcessRef[]
  /** Third number of 10.77.x.0/24, and the host's end of the lab's cable. */
  subnet: number | null
  link: string | null
  nodes: NodeState[]
  bastion: { name: string; host: string; port: number } | null
  credentials: LabCredentials
}

/** Where the labs of this user live; `MUSTER_LAB_DIR` moves it. Not under /run, which the labs cover with their own. */
export function labsDir(): string {
  return process.env.MUSTER_LAB_DIR ?? `/tmp/muster-lab-${process.getuid?.() ?? 'user'}`
}

/** Opens the labs' directory, refusing one that another user put there. */
export async function openLabsDir(): Promise<string> {
  const dir = labsDir()
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const { uid, mode } = await stat(dir)
  if (uid !== process.getuid?.() || mode & 0o077) {
    throw new Error(
      `${dir} belongs to another user or is open to others. Remove it, or set MUSTER_LAB_DIR to a private directory.`,
    )
  }
  return dir
}

/** Writes the state so that a reader sees all of it or the one before, and a lab's directory never exists without one. */
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

/** The labs on record, alive or not. Half-made directories of dead processes are removed on the way. */
export async function readStates(): Promise<LabState[]> {
  const dir = await openLabsDir()
  const states: LabState[] = []
  for (const entry of await readdir(dir)) {
    const maker = /\.new-(\d+)$/.exec(entry)
    if (maker) {
      if (startOf(Number(maker[1])) === null) await rm(path.join(dir, entry), { recursive: true, force: true })
      continue
    }
    const text = await readFile(path.join(dir, entry, 'state.json'), 'utf8').catch(() => null)
    if (text !== null) states.push(JSON.parse(text))
  }
  return states
}

/** When the process started, in clock ticks since boot (where there is no /proc, as a date); null when there is none (a zombie is none). */
export function startOf(pid: number): string | null {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim() || null
  try {
    // The command name, in parentheses, may hold anything; the fields after it are fixed.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19]!
  } catch {
    return null
  }
}

export function refTo(pid: number): ProcessRef {
  return { pid, start: startOf(pid) ?? 'gone' }
}

export function isAlive(process: ProcessRef): boolean {
  return startOf(process.pid) === process.start
}

/** Kills exactly that process, if it is still there. */
export function killExactly(target: ProcessRef, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (!isAlive(target)) return
  try {
    process.kill(target.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
