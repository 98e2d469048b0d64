import { fileExists, listFolder, readText } from '../files.ts'
import { cacheFor, runProgram } from '../program.ts'

export type Slurm = {
  /** Verbatim Slurm state, such as `IDLE` or `MIXED+DRAIN`. */
  state: string | null
  version: string | null
  cpusAllocated: number | null
  memoryAllocatedMb: number | null
  gpusAllocated: number | null
  /** Active jobs on this node. */
  jobs: { id: string; state: string }[] | null
  /** Pending jobs in the partitions of this node. */
  pendingJobs: number | null
  /** Finished jobs of this node within 24 hours, from Slurm accounting. */
  ended: { completed: number; failed: number } | null
}

const UNKNOWN: Slurm = {
  state: null,
  version: null,
  cpusAllocated: null,
  memoryAllocatedMb: null,
  gpusAllocated: null,
  jobs: null,
  pendingJobs: null,
  ended: null,
}
/** Cache duration, to limit the load on the Slurm controller. */
const SECONDS = 60
const ACCOUNTING_SECONDS = 900

/** Reads this node and its jobs from Slurm. When the Slurm tools fail, running jobs are read from cgroups. */
export function createSlurmReader(root: string, name: string): () => Promise<Slurm | null> {
  const query = cacheFor(SECONDS, async () => {
    const [node, queue, ended] = await Promise.all([
      runProgram('scontrol', ['show', 'node', name, '--oneliner']),
      runProgram('squeue', ['--noheader', `--nodelist=${name}`, '--states=all', '--format=%A|%T']),
      queryEnded(),
    ])
    const partitions = node === null ? null : parsePartitions(node)
    // Slurm assigns pending jobs to partitions, not to nodes.
    const pending =
      partitions &&
      (await runProgram('squeue', ['--noheader', `--partition=${partitions}`, '--states=PENDING', '--array', '--format=%A|%T']))
    return {
      ...(node === null ? UNKNOWN : parseNode(node)),
      jobs: queue === null ? null : parseQueue(queue),
      pendingJobs: pending === null ? null : parseQueue(pending).length,
      ended,
    }
  })
  const queryEnded = cacheFor(ACCOUNTING_SECONDS, async () => {
    const window = ['--starttime=now-24hours', '--endtime=now', `--state=${[...COMPLETED, ...FAILED].join(',')}`]
    const flags = ['--allusers', '--allocations', '--noheader', '--parsable2', '--format=State']
    const states = await runProgram('sacct', [`--nodelist=${name}`, ...window, ...flags], { seconds: 10 })
    return states === null ? null : parseEnded(states)
  })
  return async () => {
    const reported = await query()
    const cgroups = listJobCgroups(root)
    if (!cgroups) return Object.values(reported).every((value) => value === null) ? null : reported
    return {
      ...reported,
      cpusAllocated: reported.cpusAllocated ?? countBoundCpus(root, cgroups),
      jobs: reported.jobs ?? cgroups.map(({ id }) => ({ id, state: 'RUNNING' })),
    }
  }
}

const COMPLETED = ['COMPLETED']
const FAILED = ['FAILED', 'TIMEOUT', 'NODE_FAIL', 'OUT_OF_MEMORY', 'BOOT_FAIL', 'DEADLINE']

/** Counts finished jobs by state, one per line. Canceled jobs are neither completed nor failed. */
export function parseEnded(text: string): { completed: number; failed: number } {
  const states = text.split('\n').map((line) => line.trim())
  const count = (group: string[]) => states.filter((state) => group.includes(state)).length
  return { completed: count(COMPLETED), failed: count(FAILED) }
}

const parsePartitions = (line: string) => /(?:^|\s)Partitions=([\w.,-]+)/.exec(line)?.[1] ?? null

export function parseNode(line: string): Slurm {
  const field = (key: string) => new RegExp(`(?:^|\\s)${key}=(\\S+)`).exec(line)?.[1] ?? null
  const count = (key: string) => (/^\d+$/.test(field(key) ?? '') ? Number(field(key)) : null)
  const tres = field('AllocTRES')
  // Without allocations the field is present and empty.
  const gpus = /(?:^|,)gres\/gpu=(\d+)/.exec(tres ?? '')?.[1]
  return {
    state: field('State'),
    version: field('Version'),
    cpusAllocated: count('CPUAlloc'),
    memoryAllocatedMb: count('AllocMem'),
    gpusAllocated: gpus !== undefined ? Number(gpus) : / AllocTRES=/.test(line) ? 0 : null,
    jobs: null,
    pendingJobs: null,
    ended: null,
  }
}

export function parseQueue(text: string): { id: string; state: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, id, state] = /^(\d+)\|([A-Z_]+)$/.exec(line.trim()) ?? []
    return id && state ? [{ id, state }] : []
  })
}

type JobCgroup = { id: string; folder: string }

/** Cgroups (v2 and v1) of running jobs; null when slurmstepd has created none on this node. */
function listJobCgroups(root: string): JobCgroup[] | null {
  const v2 = listFolder(root, '/sys/fs/cgroup/system.slice')
    .filter((name) => /slurmstepd\.scope$/.test(name))
    .map((name) => `/sys/fs/cgroup/system.slice/${name}`)
  const v1 = '/sys/fs/cgroup/cpuset/slurm'
  const parents = [
    ...v2,
    ...listFolder(root, v1)
      .filter((name) => name.startsWith('uid_'))
      .map((name) => `${v1}/${name}`),
  ]
  if (!parents.length && !fileExists(root, v1)) return null
  return parents.flatMap((parent) =>
    listFolder(root, parent).flatMap((name) => {
      const id = /^job_(\d+)$/.exec(name)?.[1]
      return id ? [{ id, folder: `${parent}/${name}` }] : []
    }),
  )
}

/** Number of CPUs that jobs are bound to; null when a job has no CPU binding. */
function countBoundCpus(root: string, jobs: JobCgroup[]): number | null {
  const bound = new Set<number>()
  for (const { folder } of jobs) {
    const cpus = readText(root, `${folder}/cpuset.cpus`)
    if (!cpus) return null
    for (const range of cpus.split(',')) {
      const [from, to = from] = range.split('-').map(Number)
      for (let cpu = from!; cpu <= to!; cpu++) bound.add(cpu)
    }
  }
  return bound.size
}
