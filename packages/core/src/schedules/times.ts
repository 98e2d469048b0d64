import { createHash } from 'node:crypto'
import { type Blackout, blackoutFinder } from './blackouts.ts'
import { parseRule, RuleError } from './rule.ts'
import type { Schedule } from './tables.ts'

/** The fields that decide when a schedule fires. `id` is null before it exists: then the jitter is not known. */
export type Timing = Pick<Schedule, 'rule' | 'timeZone' | 'jitterSeconds' | 'blackouts' | 'startsAt' | 'endsAt'> & {
  id: string | null
}

/** `runAt` is the due time with its jitter. */
export type DueTime = { dueAt: Date; runAt: Date }

/** Parses the rule once. The result returns the first due time after a time, between start and end; null when there is none. */
function dueTimesOf(timing: Timing): (after: Date) => DueTime | null {
  const rule = parseRule(timing.rule, timing.timeZone, timing.startsAt)
  return (after) => {
    // A due time may equal the start.
    const from = timing.startsAt && timing.startsAt > after ? new Date(timing.startsAt.getTime() - 1) : after
    const dueAt = rule.next(from)
    if (!dueAt || (timing.endsAt && dueAt > timing.endsAt)) return null
    return { dueAt, runAt: new Date(dueAt.getTime() + jitterMs(timing, dueAt)) }
  }
}

/** The first due time after `after`, between start and end; null when there is none. @throws RuleError */
export const nextDueTime = (timing: Timing, after: Date): DueTime | null => dueTimesOf(timing)(after)

/** The first due time after `last` that runs after `now`: a due time with jitter can be before `now`. @throws RuleError */
export function nextDueTimeAt(timing: Timing, last: Date, now: Date): DueTime | null {
  const nextOf = dueTimesOf(timing)
  let next = nextOf(new Date(Math.max(last.getTime(), now.getTime() - timing.jitterSeconds * 1000)))
  while (next && next.runAt <= now) next = nextOf(next.dueAt)
  return next
}

/** The next due times, at most `count`. They end where the rule ends, or where the search for the next one has to stop. */
function* dueTimes(timing: Timing, after: Date, count: number): Generator<DueTime> {
  try {
    const nextOf = dueTimesOf(timing)
    let next = nextOf(after)
    for (let i = 1; next; i++) {
      yield next
      if (i === count) return
      next = nextOf(next.dueAt)
    }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
  }
}

/** The next due times, each with the blackout in which it would be skipped. */
export function upcomingTimes(timing: Timing, after: Date, count = 10): (DueTime & { blackout: Blackout | null })[] {
  const blackoutAt = blackoutFinder(timing.blackouts, timing.timeZone)
  return Array.from(dueTimes(timing, after, count), (time) => ({ ...time, blackout: blackoutAt(time.runAt) }))
}

/** The shortest time between two of the next due times; null when there is at most one. */
export function shortestIntervalMs(timing: Timing, after: Date): number | null {
  const times = Array.from(dueTimes(timing, after, 10), ({ dueAt }) => dueAt.getTime())
  return times.length < 2 ? null : Math.min(...times.slice(1).map((time, i) => time - times[i]!))
}

const MAX_COUNTED = 1000

/** Number of due times after `after` and until `until`, at most 1000. */
export function countDueTimes(timing: Timing, after: Date, until: Date): number {
  let count = 0
  for (const { runAt } of dueTimes(timing, after, MAX_COUNTED)) {
    if (runAt > until) break
    count++
  }
  return count
}

/** Equal in every process, so that previews are right, and different between schedules that are due together. */
function jitterMs({ id, jitterSeconds }: Timing, dueAt: Date): number {
  if (!id || jitterSeconds === 0) return 0
  const hash = createHash('sha256').update(`${id} ${dueAt.toISOString()}`).digest().readUInt32BE()
  return (hash % (jitterSeconds + 1)) * 1000
}
