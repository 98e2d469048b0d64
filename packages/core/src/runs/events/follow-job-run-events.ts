import { and, eq } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { NotFound } from '../../kernel/errors.ts'
import type { Listener } from '../../kernel/events.ts'
import { type JobRun, type JobRunEvent, jobRuns } from '../tables.ts'
import { EventTail } from './event-tail.ts'

/** Tails by the process's listener, then by run. */
const tails = new WeakMap<Listener, Map<string, EventTail>>()

export type JobRunEventPage = {
  events: JobRunEvent[]
  lastSeq: number
  /** Reads the current values of these columns, at least as new as these events; undefined when the run was deleted. */
  run<C extends keyof JobRun>(columns: C[]): Promise<Pick<JobRun, C> | undefined>
}

/**
 * Follows a run's log from after `after` (0: from the start) to its end. Yields batches of at most 500 events without gaps or
 * duplicates. Ends when the run ended and all events were delivered, or when `signal` aborts. A slow follower uses no memory
 * beyond its position. To resume, follow again with the last `lastSeq`.
 * @throws NotFound when the tenant has no such run
 */
export async function* followJobRunEvents(
  deps: { db: Db; listener: Listener; tenantId: string },
  { id, after = 0, signal }: { id: string; after?: number; signal?: AbortSignal },
): AsyncGenerator<JobRunEventPage, void> {
  const [run] = await deps.db
    .select({ id: jobRuns.id })
    .from(jobRuns)
    .where(and(visibleTo(deps, jobRuns), eq(jobRuns.id, id)))
  if (!run) throw new NotFound(`There is no run ${id}.`)
  const tail = openTail(deps, id)
  let seq = Math.max(0, Math.floor(after))
  try {
    while (!signal?.aborted) {
      // Read before the events, so that the last events are not missed.
      const isDrained = tail.isDrained
      const events = tail.recentAfter(seq) ?? (await tail.storedAfter(seq, signal))
      if (signal?.aborted) return
      if (events.length > 0) {
        seq = events.at(-1)!.seq
        yield { events, lastSeq: seq, run: (columns) => tail.run(columns) }
      } else if (isDrained) return
      else await tail.changed(seq, signal)
    }
  } finally {
    if (--tail.followers === 0) {
      tail.close()
      if (tails.get(deps.listener)?.get(id) === tail) tails.get(deps.listener)?.delete(id)
    }
  }
}

function openTail({ db, listener }: { db: Db; listener: Listener }, id: string): EventTail {
  const runTails = tails.get(listener) ?? new Map<string, EventTail>()
  tails.set(listener, runTails)
  const tail = runTails.get(id) ?? new EventTail(db, listener, id)
  runTails.set(id, tail)
  tail.followers++
  return tail
}
