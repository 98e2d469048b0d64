import { execFileSync } from 'node:child_process'
import fs from 'node:fs'

/** A process that can be told from a later one with the same pid. `startedAt` is opaque: compare it, nothing else. */
export type ProcessIdentity = { pid: number; startedAt: string }

/**
 * When the process with this pid started, or undefined when there is none (a zombie counts as none).
 * On Linux: field 22 of /proc/PID/stat (clock ticks since boot) with the boot id before it; elsewhere `ps -o lstart`.
 */
export function startedAt(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The command name is in parentheses and may itself hold spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined
      return `${fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`
    }
    const out = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return !out || out.startsWith('Z') ? undefined : out.replace(/^\S+\s+/, '')
  } catch {
    return undefined
  }
}

/** The identity of a living process, or undefined. */
export function identify(pid: number): ProcessIdentity | undefined {
  const at = startedAt(pid)
  return at === undefined ? undefined : { pid, startedAt: at }
}

/** Whether this very process still lives. */
export function isAlive(who: ProcessIdentity): boolean {
  return startedAt(who.pid) === who.startedAt
}
