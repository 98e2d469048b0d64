import { hasEnded, type SlurmJob } from '../parse-jobs.ts'

/**
 * Whether the job is held: by a user or an administrator, or by Slurm after a requeue. A held job has the priority 0. Records of several
 * pending tasks list all their reasons.
 */
export function isJobHeld({
  states,
  priority,
  reason,
  reasonDetail,
}: Pick<SlurmJob, 'states' | 'priority' | 'reason' | 'reasonDetail'>): boolean {
  if (states[0] !== 'PENDING') return false
  return priority === 0 || (reasonDetail ?? reason ?? '').split(',').every((word) => /held/i.test(word))
}

/**
 * Finds the records of jobs as people write them: 15; 3, a whole array; 3_1 and 3_[2-9], some of its tasks; 12, a heterogeneous job, and
 * 12+1, one component. Finished jobs are left out.
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
    const wanted = readTasks(tasks)
    return found.filter((job) => job.arrayJobId === Number(id) && overlap(wanted, tasksOf(job)))
  }
}

/** Tasks `first`, `first + step`, … to `last`. */
type TaskRange = { first: number; last: number; step: number }

/** All tasks when the list is unknown or was cut off. */
function tasksOf({ arrayTaskId, arrayTasks }: SlurmJob): TaskRange[] {
  if (arrayTaskId !== null) return [{ first: arrayTaskId, last: arrayTaskId, step: 1 }]
  return arrayTasks && !arrayTasks.includes('...') ? readTasks(arrayTasks) : [{ first: 0, last: Infinity, step: 1 }]
}

/** Reads `2-9:2,12%4`: ranges with a step, and a throttle. */
function readTasks(tasks: string): TaskRange[] {
  return tasks
    .replace(/%\d+$/, '')
    .split(',')
    .map((range) => {
      const [, first, last, step] = /^(\d+)(?:-(\d+))?(?::(\d+))?$/.exec(range) ?? []
      return { first: Number(first), last: Number(last ?? first), step: Number(step) || 1 }
    })
}

const overlap = (some: readonly TaskRange[], others: readonly TaskRange[]): boolean =>
  some.some((one) => others.some((other) => (one.step < other.step ? hasCommonTask(other, one) : hasCommonTask(one, other))))

/** Walks the range with the larger step: the remainders by the smaller step repeat after that many tasks. */
function hasCommonTask(large: TaskRange, small: TaskRange): boolean {
  const end = Math.min(large.last, small.last)
  const start = large.first + Math.max(0, Math.ceil((small.first - large.first) / large.step)) * large.step
  for (let i = 0, task = start; i < small.step && task <= end; i++, task += large.step)
    if ((task - small.first) % small.step === 0) return true
  return false
}
