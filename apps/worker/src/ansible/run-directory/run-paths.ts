import { join } from 'node:path'

/** The user of a run's processes. No other process of this machine has this user at the same time. */
export type RunUser = { uid: number; gid: number }

/** The directories of one run. `user` is null when its processes run as the worker's own user. */
export type RunPaths = { dir: string; sshDir: string; user: RunUser | null }

/** A run's private directory. Processes of the run have `marker` in their environment, unless they remove it. */
export type RunDirectory = RunPaths & { marker: string; remove(): Promise<void> }

/** The marker of a run's processes, as a variable of the environment. */
export const markerOf = (dir: string): string => `MUSTER_RUN=${dir}`

/** Files that a playbook leaves here are stored as artifacts. */
export const artifactDir = (dir: string): string => join(dir, 'artifacts')

/** The folders that a run can write to; the rest of its directories is read-only for it. */
export const writableDirs = ({ dir, sshDir }: Pick<RunPaths, 'dir' | 'sshDir'>): string[] => [
  join(dir, 'home'),
  join(dir, 'tmp'),
  artifactDir(dir),
  socketPaths(sshDir).masters,
]

/** Paths of a run's sockets, one letter each: Unix socket paths have about 100 bytes. */
export const socketPaths = (sshDir: string) => ({ agent: `${sshDir}/a`, secrets: `${sshDir}/s`, masters: `${sshDir}/c` })
