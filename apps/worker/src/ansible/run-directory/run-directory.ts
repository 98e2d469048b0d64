import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Log } from '@muster/core/log'
import type { Isolation } from '../isolation/isolation.ts'
import { killLeftoverProcesses } from '../process/kill-leftover-processes.ts'
import { killRemoteProcessesOfLostRun } from '../process/kill-remote-processes.ts'
import { processStartTime } from '../process/processes.ts'
import { markerOf, type RunDirectory, type RunUser, writableDirs } from './run-paths.ts'

const PREFIX = 'run-'
const OWNER = 'owner.json'
// Unix socket paths have at most 103 bytes on macOS; ssh appends 17 bytes while it creates one.
const MAX_SSH_DIR_LENGTH = 48
// Longer than the longest possible run.
const ABANDONED_MS = 25 * 3600 * 1000

/** `host`: workers on several machines may share a work directory, and a PID identifies a process only on its own machine. */
type Owner = { host: string; pid: number; start: string | null; sshDir: string; user?: RunUser | null }

/** Creates a directory that only this user can read. It records its owner, so that another worker can clean up after a lost one. */
export async function createRunDirectory(workDir: string, runId: string, user: RunUser | null): Promise<RunDirectory> {
  await mkdir(workDir, { recursive: true, mode: 0o700 })
  const dir = await mkdtemp(join(workDir, `${PREFIX}${runId.slice(-6)}`))
  const isFit = dir.length <= MAX_SSH_DIR_LENGTH && /^[A-Za-z0-9_./-]+$/.test(dir)
  const sshDir = isFit ? dir : await mkdtemp('/tmp/muster-')
  const owner: Owner = { host: hostname(), pid: process.pid, start: await processStartTime(process.pid), sshDir, user }
  await Promise.all([
    writeFile(join(dir, OWNER), JSON.stringify(owner), { mode: 0o600 }),
    ...writableDirs({ dir, sshDir }).map((path) => mkdir(path, { mode: 0o700 })),
  ])
  return { dir, sshDir, user, marker: markerOf(dir), remove: () => removeAll(dir, sshDir) }
}

/** Minimal environment of a run's processes. */
export const environmentOf = (dir: string): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, MUSTER_RUN: dir })

async function removeAll(dir: string, sshDir: string): Promise<void> {
  await Promise.all([dir, sshDir].map((path) => rm(path, { recursive: true, force: true, maxRetries: 3 })))
}

const ageOf = (dir: string) =>
  stat(dir).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )

/**
 * Cleans up after lost workers: kills the leftover processes of their runs, closes their SSH connections and removes their
 * directories. Directories of live processes stay. Called once when a worker starts.
 */
export async function removeAbandonedRuns(workDir: string, log: Log, isolation: Isolation): Promise<number> {
  const names = await readdir(workDir).catch(() => [])
  let removed = 0
  for (const name of names.filter((n) => n.startsWith(PREFIX))) {
    const dir = join(workDir, name)
    // A worker that was killed while it wrote the file leaves a part of it.
    const owner = await readFile(join(dir, OWNER), 'utf8')
      .then((text): Owner => JSON.parse(text))
      .catch(() => null)
    const sshDir = owner?.sshDir ?? dir
    const isOurs = owner ? owner.host === hostname() : false
    const isAlive = isOurs && owner !== null && (await processStartTime(owner.pid)) === owner.start
    // Directories of other machines, or without an owner yet, are removed only when they are too old to be in use.
    if (isAlive || (!isOurs && (await ageOf(dir)) < ABANDONED_MS)) continue
    const [marker, user] = [markerOf(dir), owner?.user ?? null]
    const wrapCommand = await isolation.prepare({ dir, sshDir, user }, { isGranted: true })
    const masters = { sshDir, wrapCommand, env: environmentOf(dir) }
    const killed = await killLeftoverProcesses({ masters, marker, user }, () => killRemoteProcessesOfLostRun(masters))
    await removeAll(dir, sshDir)
    log.info({ dir, killed }, 'cleaned up after a lost worker')
    removed++
  }
  return removed
}
