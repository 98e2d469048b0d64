import { exists, names, text } from '../files.ts'
import { every, output } from '../run.ts'

export type Slurm = {
  /** As Slurm writes it: `IDLE`, `MIXED+DRAIN`. */
  state: string | null
  version: string | null
  cpusAllocated: number | null
  memoryAllocatedMb: number | null
  gpusAllocated: number | null
  jobs: { id: string; state: string }[] | null
}

const NOTHING: Slurm = {
  state: null,
  version: null,
  cpusAllocated: null,
  memoryAllocatedMb: null,
  gpusAllocated: null,
  jobs: null,
}
/** The controller has other things to do than to answer every node all the time. */
const SECONDS = 60

/** Asks Slurm about this node and this node's jobs. Where its tools do not answer, the cgroups of jobs still tell which run here. */
export function slurmReader(root: string, name: string): () => Promise<Slurm | null> {
  const ask = every(SECONDS, async () => {
    const [node, queue] = await Promise.all([
      output('scontrol', ['show', 'node', name, '--oneliner']),
      output('squeue', ['--noheader', `--nodelist=${name}`, '--states=all', '--format=%A|%T']),
    ])
    return { ...(node === null ? NOTHING : parseNode(node)), jobs: queue === null ? null : parseQueue(queue) }
  })
  return async () => {
    const told = await ask()
    const here = jobCgroups(root)
    if (!here) return told.state === null && told.jobs === null ? null : told
    return {
      ...told,
      cpusAllocated: told.cpusAllocated ?? cpusOf(root, here),
      jobs: told.jobs ?? here.map(({ id }) => ({ id, state: 'RUNNING' })),
    }
  }
}

export function parseNode(line: string): Slurm {
  const field = (key: string) => new RegExp(`(?:^|\\s)${key}=(\\S+)`).exec(line)?.[1] ?? null
  const count = (key: string) => (/^\d+$/.test(field(key) ?? '') ? Number(field(key)) : null)
  const tres = field('AllocTRES')
  // With nothing allocated the field is there and empty.
  const gpus = /(?:^|,)gres\/gpu=(\d+)/.exec(tres ?? '')?.[1]
  return {
    state: field('State'),
    version: field('Version'),
    cpusAllocated: count('CPUAlloc'),
    memoryAllocatedMb: count('AllocMem'),
    gpusAllocated: gpus !== undefined ? Number(gpus) : / AllocTRES=/.test(line) ? 0 : null,
    jobs: null,
  }
}

export function parseQueue(text: string): { id: string; state: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, id, state] = /^(\d+)\|([A-Z_]+)$/.exec(line.trim()) ?? []
    return id && state ? [{ id, state }] : []
  })
}

type JobCgroup = { id: string; folder: string }

/** Where slurmstepd keeps the cgroups of jobs, v2 and v1; null when there is no such place. */
function jobCgroups(root: string): JobCgroup[] | null {
  const v2 = names(root, '/sys/fs/cgroup/system.slice')
    .filter((name) => /slurmstepd\.scope$/.test(name))
    .map((name) => `/sys/fs/cgroup/system.slice/${name}`)
  const v1 = '/sys/fs/cgroup/cpuset/slurm'
  const places = [
    ...v2,
    ...names(root, v1)
      .filter((name) => name.startsWith('uid_'))
      .map((name) => `${v1}/${name}`),
  ]
  if (!places.length && !exists(root, v1)) return null
  return places.flatMap((place) =>
    names(root, place).flatMap((name) => {
      const id = /^job_(\d+)$/.exec(name)?.[1]
      return id ? [{ id, folder: `${place}/${name}` }] : []
    }),
  )
}

/** How many CPUs jobs are bound to; null when one is not bound to any, since then nothing can be said. */
function cpusOf(root: string, jobs: JobCgroup[]): number | null {
  const all = new Set<number>()
  for (const { folder } of jobs) {
    const cpus = text(root, `${folder}/cpuset.cpus`)
    if (!cpus) return null
    for (const range of cpus.split(',')) {
      const [from, to = from] = range.split('-').map(Number)
      for (let cpu = from!; cpu <= to!; cpu++) all.add(cpu)
    }
  }
  return all.size
}
