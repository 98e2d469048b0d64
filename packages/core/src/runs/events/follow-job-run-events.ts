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
  /** These columns of the run as they are when asked, so never from before these events; undefined when it is gone. */
  run<C extends keyof JobRun>(columns: C[]): Promise<Pick<JobRun, C> | undefined>
}

/**
 * Follow a run's log from behind `after` (0: from its beginning) to its end: batches without a gap or a repeat, at most 500
 * events each. Ends when the run is over and everything was given, or when `signal` aborts. A follower that is slow holds no
 * more than its place. Following again with the last `lastSeq` continues where one left off.
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
      // Read before the question whether it is drained, so that its last events are not missed.
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
  const mine = tails.get(listener) ?? new Map<string, EventTail>()
  tails.set(listener, mine)
  const tail = mine.get(id) ?? new EventTail(db, listener, id)
  mine.set(id, tail)
  tail.followers++
  return tail
}
