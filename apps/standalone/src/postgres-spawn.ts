import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import type { RunAs } from './postgres-binaries.ts'

/**
 * Spawn one of Postgres' programs on a data directory. As another user it may be unable to walk to that directory (ours is 0700),
 * so it inherits the open directory and names it by descriptor. In a process group of its own: Ctrl-C is for us to pass on, in order.
 */
export function spawnOnData(program: string, data: string, runAs: RunAs, args: (dataDir: string) => string[]): ChildProcess {
  const byDescriptor = runAs !== null && process.platform === 'linux'
  const descriptor = byDescriptor ? fs.openSync(data, 'r') : 'ignore'
  try {
    return spawn(program, args(byDescriptor ? '/proc/self/fd/3' : data), {
      ...(runAs ? { uid: runAs.uid, gid: runAs.gid } : {}),
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', TZ: 'UTC', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe', descriptor],
      detached: true,
    })
  } finally {
    if (typeof descriptor === 'number') fs.closeSync(descriptor)
  }
}
