import { readdirSync, readFileSync } from 'node:fs'

// Linux only: reads /proc.

/** /proc reports CPU times in USER_HZ, which is 100 on all platforms. */
const TICKS = 100

/** CPU seconds of these processes, including waited-for children; 0 for processes that have exited. */
export const cpuSeconds = (pids: number[]): number => pids.reduce((sum, pid) => sum + (statOf(pid)?.seconds ?? 0), 0)

/** @throws Error when the process does not exist */
export function parentOf(pid: number): number {
  const stat = statOf(pid)
  if (!stat) throw new Error(`There is no process ${pid}.`)
  return stat.parent
}

export const childrenOf = (pid: number): number[] => allPids().filter((each) => statOf(each)?.parent === pid)

/** Processes with `entry` (`NAME=value`) in their environment. */
export const withEnvironment = (entry: string): number[] =>
  allPids().filter((pid) => read(pid, 'environ')?.split('\0').includes(entry))

const allPids = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

function statOf(pid: number): { parent: number; seconds: number } | null {
  const stat = read(pid, 'stat')
  if (!stat) return null
  // The program name, in parentheses, may contain spaces and parentheses.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return { parent: fields[1]!, seconds: (fields[11]! + fields[12]! + fields[13]! + fields[14]!) / TICKS }
}

/** Null for a process that has exited or belongs to another user. */
function read(pid: number, name: 'stat' | 'environ'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return null
  }
}
