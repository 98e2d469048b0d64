import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runProgram } from '../../executor/executor.ts'
import { sendSignal } from '../../executor/send-signal.ts'

type FoundProcess = { pid: number; name: string }

/** Finds processes, except this one, that have `marker` in their environment or command line. */
export async function findProcesses(marker: string): Promise<FoundProcess[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await runProgram(['ps', '-axEww', '-o', 'pid=,command='])
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
    pids.map(async (pid): Promise<FoundProcess[]> => {
      if (!(await read(pid, 'environ')).includes(needle) && !(await read(pid, 'cmdline')).includes(needle)) return []
      return [{ pid, name: (await read(pid, 'comm')).toString().trim() }]
    }),
  )
  return found.flat()
}

/**
 * Kills all processes with `marker`: SIGTERM, then SIGKILL after `graceMs`. Resolves when none is left.
 * @param except processes of these names are not killed
 * @returns the number of processes found
 */
export async function killProcesses(marker: string, { graceMs = 500, except = [] as string[] } = {}): Promise<number> {
  const find = async () => (await findProcesses(marker)).filter(({ name }) => !except.includes(name))
  const first = await find()
  if (first.length === 0) return 0
  for (const { pid } of first) sendSignal(pid, 'SIGTERM')
  const until = Date.now() + graceMs
  for (let round = 0; round < 100; round++) {
    const left = await find()
    if (left.length === 0) break
    if (Date.now() > until) for (const { pid } of left) sendSignal(pid, 'SIGKILL')
    await sleep(20)
  }
  return first.length
}

/** Sends SIGKILL to the members of a process group, except its leader. */
export async function killGroupOf(leader: number): Promise<void> {
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger)) {
    const [, , group] = (await statOf(pid)) ?? []
    if (group === String(leader) && pid !== leader) sendSignal(pid, 'SIGKILL')
  }
}

/** The fields of /proc/PID/stat from the third on, see proc(5); null when the process does not exist. */
async function statOf(pid: number): Promise<string[] | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // The command name in parentheses may contain any character.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? null
}

/** The kernel's start time of a process, which together with the PID identifies it uniquely. Null when it does not exist. */
export async function processStartTime(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') {
    const { stdout } = await runProgram(['ps', '-o', 'lstart=', '-p', String(pid)])
    return stdout.trim() || null
  }
  return (await statOf(pid))?.[19] ?? null
}
