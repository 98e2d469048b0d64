import type { SlurmLookupCursor, SlurmLookupRequest, SlurmLookupResult } from '@muster/core/clusters'
import type { SlurmJobRecord } from '@muster/slurm'
import { OutputTooLarge, QueryFailure } from './run-query.ts'

const FIRST_WINDOW_S = 3600
/** A window with more jobs is not made wider. */
const MANY_JOBS = 1000
const GROWTH = 4
const SHRINK = 8

type Search = Pick<Extract<SlurmLookupRequest, { kind: 'FINISHED' }>, 'sinceSeconds' | 'after' | 'limit'> & {
  untilSeconds: number
}

/**
 * Reads the newest finished jobs. sacct has no limit and no order by time, so windows of time are read one after the other, the newest
 * first, wider while they have few jobs, and narrower when they have too many.
 * @param read jobs that ended in these seconds, both inclusive; it may return others
 * @param isOutOfTime whether to read no further window: the next lookup continues
 * @throws QueryFailure nothing could be read; SshFailure
 */
export async function readFinishedJobs(
  read: (sinceSeconds: number, untilSeconds: number) => Promise<SlurmJobRecord[]>,
  { sinceSeconds, untilSeconds, after, limit }: Search,
  isOutOfTime: () => boolean,
): Promise<Pick<SlurmLookupResult, 'jobs' | 'searchedSinceSeconds' | 'next'>> {
  const found: SlurmJobRecord[] = []
  let high = Math.min(untilSeconds, after?.endSeconds ?? untilSeconds)
  let width = FIRST_WINDOW_S
  while (high >= sinceSeconds && found.length < limit) {
    const low = Math.max(sinceSeconds, high - width + 1)
    let all: SlurmJobRecord[]
    try {
      all = await read(low, high)
    } catch (error) {
      if (error instanceof OutputTooLarge && low < high && !isOutOfTime()) {
        width = Math.max(1, Math.floor((high - low + 1) / SHRINK))
        continue
      }
      // The next lookup fails with the same reason, unless it has passed.
      if (error instanceof QueryFailure && found.length > 0) break
      throw error
    }
    const isInWindow = (job: SlurmJobRecord) => endOf(job) >= low && endOf(job) <= high && (!after || isAfter(job, after))
    found.push(...all.filter(isInWindow).sort((a, b) => endOf(b) - endOf(a) || b.id - a.id))
    high = low - 1
    if (all.length < MANY_JOBS) width *= GROWTH
    if (isOutOfTime()) break
  }
  if (found.length > limit) {
    const jobs = found.slice(0, limit)
    const last = jobs.at(-1)!
    return { jobs, searchedSinceSeconds: endOf(last), next: { endSeconds: endOf(last), id: last.id } }
  }
  const next = high >= sinceSeconds ? { endSeconds: high, id: null } : null
  return { jobs: found, searchedSinceSeconds: high + 1, next }
}

const endOf = ({ endAt }: SlurmJobRecord): number => (endAt ? Math.floor(endAt.getTime() / 1000) : 0)

const isAfter = (job: SlurmJobRecord, { endSeconds, id }: SlurmLookupCursor): boolean =>
  endOf(job) < endSeconds || (endOf(job) === endSeconds && (id === null || job.id < id))
