import type { Limit } from '../json.ts'
import { checkedCount, checkedWord, InvalidSlurmWord } from './words.ts'

/** Pending tasks are shown with their throttle, `3_[2-9%2]`, which commands do not accept. */
const idOf = (job: string): string => checkedWord('job', job).replace(/%\d+\]$/, ']')

/** @throws InvalidSlurmWord also for an empty list, which `scontrol update` accepts */
function idsOf(jobs: readonly string[]): string[] {
  if (jobs.length === 0) throw new InvalidSlurmWord('needs at least one job')
  return jobs.map(idOf)
}

const scontrol = (command: string, jobs: readonly string[]): string[] => ['scontrol', command, idsOf(jobs).join(',')]

export const holdJobs = (jobs: readonly string[]): string[] => scontrol('hold', jobs)
export const releaseJobs = (jobs: readonly string[]): string[] => scontrol('release', jobs)
export const requeueJobs = (jobs: readonly string[]): string[] => scontrol('requeue', jobs)
export const suspendJobs = (jobs: readonly string[]): string[] => scontrol('suspend', jobs)
export const resumeJobs = (jobs: readonly string[]): string[] => scontrol('resume', jobs)

/**
 * Cancels jobs, always by their numbers: `scancel --user` would end jobs that nobody saw in a preview.
 * @param signal sent instead, to the job steps; the jobs go on unless it ends them
 */
export const cancelJobs = (jobs: readonly string[], signal?: string): string[] => [
  'scancel',
  ...(signal === undefined ? [] : [`--signal=${checkedWord('signal', signal)}`]),
  ...idsOf(jobs),
]

/** Minutes. */
export type JobChanges = { timeLimit?: Limit | undefined; priority?: number | undefined }

export function updateJobs(jobs: readonly string[], { timeLimit, priority }: JobChanges): string[] {
  const changes: string[] = []
  if (timeLimit !== undefined)
    changes.push(`timelimit=${timeLimit === 'UNLIMITED' ? timeLimit : checkedCount('time limit', timeLimit, 525_600_000)}`)
  if (priority !== undefined) changes.push(`priority=${checkedCount('priority', priority, 4_294_967_293)}`)
  if (changes.length === 0) throw new InvalidSlurmWord('needs a time limit or a priority')
  return ['scontrol', 'update', `jobid=${idsOf(jobs).join(',')}`, ...changes]
}
