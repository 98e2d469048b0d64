import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import type { RunAs } from './binaries.ts'

/**
 * Spawns a Postgres program on a data directory, in its own process group so that Ctrl-C reaches only the supervisor.
 * Another user cannot traverse a 0700 parent directory, so the child inherits the open directory and uses its descriptor.
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
