import { hasEnded, type SlurmJob } from '../parse-jobs.ts'

/** Whether a user or an administrator holds the job. Records of several pending tasks list all their reasons. */
export function isJobHeld({ reason, reasonDetail }: Pick<SlurmJob, 'reason' | 'reasonDetail'>): boolean {
  const words = (reasonDetail ?? reason ?? '').split(',').map((word) => word.trim())
  return words.every((word) => /^JobHeld(?:Admin|User)/.test(word))
}

/**
 * Finds the records of jobs as people write them: 15; 3, a whole array; 3_1 and 3_[2-9], some of its tasks; 12, a heterogeneous job, and
 * 12+1, one component. Ended jobs are left out.
 */
export function jobsOfTarget(jobs: readonly SlurmJob[]): (target: string) => SlurmJob[] {
  const byJob = new Map<number, SlurmJob[]>()
  for (const job of jobs) {
    if (hasEnded(job)) continue
    for (const id of new Set([job.id, job.arrayJobId, job.hetJobId])) {
      if (id === null) continue
      const list = byJob.get(id)
      if (list) list.push(job)
      else byJob.set(id, [job])
    }
  }
  return (target) => {
    const [, id, tasks, offset] = /^(\d+)(?:_\[?([^\]]+)\]?|\+(\d+))?$/.exec(target) ?? []
    const found = byJob.get(Number(id)) ?? []
    if (offset !== undefined) return found.filter(({ hetJobOffset }) => hetJobOffset === Number(offset))
    if (tasks === undefined) return found
    const isWanted = taskFilter(tasks)
    return found.filter((job) => job.arrayJobId === Number(id) && (job.arrayTaskId === null || isWanted(job.arrayTaskId)))
  }
}

/** Reads `2-9:2,12%4`: ranges with a step, and a throttle. */
function taskFilter(tasks: string): (task: number) => boolean {
  const ranges = tasks
    .replace(/%\d+$/, '')
    .split(',')
    .map((range) => {
      const [, first, last, step] = /^(\d+)(?:-(\d+))?(?::(\d+))?$/.exec(range) ?? []
      return { first: Number(first), last: Number(last ?? first), step: Number(step ?? 1) }
    })
  return (task) => ranges.some(({ first, last, step }) => task >= first && task <= last && (task - first) % step === 0)
}
