import { readdirSync, readFileSync } from 'node:fs'

// Linux only: all of it is read from /proc.

/** Times are given in hundredths of a second, whatever the kernel's own clock. */
const TICKS = 100

/** CPU that these processes have used so far, in s, with the children that they have outlived; nothing for those that are gone. */
export const cpuSeconds = (pids: number[]): number => pids.reduce((sum, pid) => sum + (statOf(pid)?.seconds ?? 0), 0)

/** @throws Error when there is no such process */
export function parentOf(pid: number): number {
  const stat = statOf(pid)
  if (!stat) throw new Error(`There is no process ${pid}.`)
  return stat.parent
}

export const childrenOf = (pid: number): number[] => everyPid().filter((each) => statOf(each)?.parent === pid)

/** Processes that were started with `entry` (`NAME=value`) in their environment. */
export const withEnvironment = (entry: string): number[] =>
  everyPid().filter((pid) => read(pid, 'environ')?.split('\0').includes(entry))

const everyPid = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

function statOf(pid: number): { parent: number; seconds: number } | null {
  const stat = read(pid, 'stat')
  if (!stat) return null
  // The name of the program, in brackets, may have blanks and brackets in it.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return { parent: fields[1]!, seconds: (fields[11]! + fields[12]! + fields[13]! + fields[14]!) / TICKS }
}

/** Null for a process that is gone, or somebody else's. */
function read(pid: number, name: 'stat' | 'environ'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return null
  }
}
