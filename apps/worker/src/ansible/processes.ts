import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

type Found = { pid: number; name: string }

/** Processes, other than this one, in whose environment or command line `marker` stands: all that a run left behind. */
export async function processesWith(marker: string): Promise<Found[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-axEww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 })
    return stdout.split('\n').flatMap((line) => {
      const [, pid, command] = /^ *(\d+) (\S+)/.exec(line) ?? []
      return pid && command && line.includes(marker) && Number(pid) !== process.pid
        ? [{ pid: Number(pid), name: basename(command) }]
        : []
    })
  }
  const needle = Buffer.from(marker)
  const read = (pid: number, file: string) => readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0))
  const pids = (await readdir('/proc')).map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  const found = await Promise.all(
    pids.map(async (pid): Promise<Found[]> => {
      if (!(await read(pid, 'environ')).includes(needle) && !(await read(pid, 'cmdline')).includes(needle)) return []
      return [{ pid, name: (await read(pid, 'comm')).toString().trim() }]
    }),
  )
  return found.flat()
}

/**
 * End all processes with `marker`: SIGTERM, and SIGKILL for what is left after `graceMs`. Resolves when none is left.
 * @param spare processes of this name are left alone
 * @returns how many there were
 */
export async function endProcessesWith(marker: string, { graceMs = 500, spare = '' } = {}): Promise<number> {
  const find = async () => (await processesWith(marker)).filter(({ name }) => name !== spare)
  const first = await find()
  if (first.length === 0) return 0
  for (const { pid } of first) signal(pid, 'SIGTERM')
  const until = Date.now() + graceMs
  for (let round = 0; round < 100; round++) {
    const left = await find()
    if (left.length === 0) break
    if (Date.now() > until) for (const { pid } of left) signal(pid, 'SIGKILL')
    await sleep(20)
  }
  return first.length
}

/** Send a signal to a process (positive) or a process group (negative). @returns false when it is gone, or not there yet */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}

/** When the process started, in the kernel's own count; with the pid it names one process for ever. Null when it is gone. */
export async function startOf(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
    return stdout.trim() || null
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // Field 22 of proc(5); the command's name in parentheses may hold anything.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}
