import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Log } from '@muster/core/log'
import { endLeftovers } from './end-leftovers.ts'
import { endRemoteProcessesOfDeadRun } from './end-remote.ts'
import type { RunPlace, RunUser } from './isolation/isolation.ts'
import { startOf } from './processes.ts'
import { socketPaths } from './run-files.ts'

const PREFIX = 'run-'
const OWNER = 'owner.json'
// A Unix socket's path has room for 103 bytes on macOS; ssh adds 17 of its own while it makes one.
const LONGEST_SSH_DIR = 48
// Longer than any run may take.
const ABANDONED_MS = 25 * 3600 * 1000

/** A run's private directory. `marker` stands in the environment of every process of the run. */
export type RunDirectory = RunPlace & { marker: string; remove(): Promise<void> }

/** `host`: several workers may share a work directory, and a pid means something only on its own machine. */
type Owner = { host: string; pid: number; start: string | null; sshDir: string; user?: RunUser | null }

/** Make a directory that only this user can look into. It says whose it is, so that the next worker can clean up after a dead one. */
export async function createRunDirectory(workDir: string, runId: string, user: RunUser | null): Promise<RunDirectory> {
  await mkdir(workDir, { recursive: true, mode: 0o700 })
  const dir = await mkdtemp(join(workDir, `${PREFIX}${runId.slice(-6)}`))
  const isFit = dir.length <= LONGEST_SSH_DIR && /^[A-Za-z0-9_./-]+$/.test(dir)
  const sshDir = isFit ? dir : await mkdtemp('/tmp/muster-')
  const owner: Owner = { host: hostname(), pid: process.pid, start: await startOf(process.pid), sshDir, user }
  await Promise.all([
    writeFile(join(dir, OWNER), JSON.stringify(owner), { mode: 0o600 }),
    ...writableDirs({ dir, sshDir }).map((path) => mkdir(path, { mode: 0o700 })),
  ])
  return { dir, sshDir, user, marker: markerOf(dir), remove: () => removeAll(dir, sshDir) }
}

/** Where a run writes; the rest of its directories it only reads. */
export const writableDirs = ({ dir, sshDir }: Pick<RunPlace, 'dir' | 'sshDir'>): string[] => [
  join(dir, 'home'),
  join(dir, 'tmp'),
  artifactDir(dir),
  socketPaths(sshDir).masters,
]

/** Where playbooks leave files that are to be kept. */
export const artifactDir = (dir: string): string => join(dir, 'artifacts')

const markerOf = (dir: string) => `MUSTER_RUN=${dir}`

async function removeAll(dir: string, sshDir: string): Promise<void> {
  await Promise.all([dir, sshDir].map((path) => rm(path, { recursive: true, force: true, maxRetries: 3 })))
}

const ageOf = (dir: string) =>
  stat(dir).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )

/**
 * Clean up after workers that died: end what their runs left running on this machine, close their ssh connections, and remove
 * their directories. Directories of living processes are left alone. Called once when a worker starts.
 */
export async function removeDeadRuns(workDir: string, log: Log): Promise<number> {
  const names = await readdir(workDir).catch(() => [])
  let removed = 0
  for (const name of names.filter((n) => n.startsWith(PREFIX))) {
    const dir = join(workDir, name)
    const owner = await readFile(join(dir, OWNER), 'utf8').then(
      (text): Owner => JSON.parse(text),
      () => null,
    )
    const sshDir = owner?.sshDir ?? dir
    const isOurs = owner ? owner.host === hostname() : false
    const isAlive = isOurs && owner !== null && (await startOf(owner.pid)) === owner.start
    // Of another machine's workers, or one that is being made, only what is far too old is taken.
    if (isAlive || (!isOurs && (await ageOf(dir)) < ABANDONED_MS)) continue
    const ended = await endLeftovers({ sshDir, marker: markerOf(dir), user: owner?.user ?? null }, () =>
      endRemoteProcessesOfDeadRun(sshDir),
    )
    await removeAll(dir, sshDir)
    log.info({ dir, ended }, 'cleaned up after a worker that died')
    removed++
  }
  return removed
}
