import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Processes, other than this one, in whose environment or command line `marker` stands: all that a run left behind. */
export async function processesWith(marker: string): Promise<number[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-axEww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 })
    return stdout
      .split('\n')
      .flatMap((line) => (line.includes(marker) ? [Number.parseInt(line, 10)] : []))
      .filter(notThis)
  }
  const pids = (await readdir('/proc')).map(Number).filter((pid) => Number.isInteger(pid) && notThis(pid))
  const needle = Buffer.from(marker)
  const holds = (file: string) =>
    readFile(file).then(
      (text) => text.includes(needle),
      () => false,
    )
  const found = await Promise.all(
    pids.map(async (pid) => ((await holds(`/proc/${pid}/environ`)) || (await holds(`/proc/${pid}/cmdline`)) ? [pid] : [])),
  )
  return found.flat()
}

const notThis = (pid: number) => pid !== process.pid

/** End all processes with `marker`: SIGTERM, and SIGKILL for what is left after `graceMs`. Resolves when none is left. */
export async function endProcessesWith(marker: string, graceMs = 500): Promise<number> {
  const first = await processesWith(marker)
  if (first.length === 0) return 0
  for (const pid of first) signal(pid, 'SIGTERM')
  const until = Date.now() + graceMs
  for (let round = 0; round < 100; round++) {
    const left = await processesWith(marker)
    if (left.length === 0) break
    if (Date.now() > until) for (const pid of left) signal(pid, 'SIGKILL')
    await sleep(20)
  }
  return first.length
}

/** Send a signal to a process (positive) or a process group (negative); one that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
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
