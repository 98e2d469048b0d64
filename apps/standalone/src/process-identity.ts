import { execFileSync } from 'node:child_process'
import fs from 'node:fs'

/** Identifies a process even when its pid is reused later. `startedAt` is opaque; only compare it. */
export type ProcessIdentity = { pid: number; startedAt: string }

/**
 * Returns when the process with this pid started, or undefined when there is none. A zombie counts as none.
 * On Linux: the boot id and field 22 of /proc/PID/stat (clock ticks since boot); elsewhere `ps -o lstart`.
 */
export function startedAt(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The command name is in parentheses and may contain spaces and parentheses.
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

/** Returns the identity of a live process, or undefined. */
export function identify(pid: number): ProcessIdentity | undefined {
  const at = startedAt(pid)
  return at === undefined ? undefined : { pid, startedAt: at }
}

/** Whether exactly this process is alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return startedAt(identity.pid) === identity.startedAt
}
