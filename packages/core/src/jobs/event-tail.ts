import { and, asc, eq, gt } from 'drizzle-orm'
import type { Db } from '../db/client.ts'
import type { Listener } from '../events.ts'
import { patiently } from '../patiently.ts'
import { type JobRunEvent, jobRunEvents, jobRuns } from './tables.ts'

const PAGE = 500
// What one run's tail keeps for those who follow closely. Who is further behind reads pages from the database.
const KEEP_EVENTS = 4000
const KEEP_CHARACTERS = 4 * 1024 * 1024
const LOOK_EVERY_MS = 1000

/** Bridges a restart of Postgres. What stays broken ends the subscriptions, and clients come back with their last seq. */
const PATIENCE_MS = 60_000

const weight = (event: JobRunEvent) =>
  200 + (event.stdout?.length ?? 0) + (event.result ? JSON.stringify(event.result).length : 0)

/** What `page` gives; nothing as soon as `signal` aborts, for the page is shared and comes when the database does. */
async function unlessAborted(page: Promise<JobRunEvent[]>, signal: AbortSignal | undefined): Promise<JobRunEvent[]> {
  if (!signal) return page
  let leave = () => {}
  const aborted = new Promise<JobRunEvent[]>((resolve) => {
    leave = () => resolve([])
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave)
  })
  return Promise.race([page, aborted]).finally(() => signal.removeEventListener('abort', leave))
}

/**
 * The end of one run's log, read once for everybody in this process who follows it. It looks at every nudge and at least once
 * a second, never twice at once.
 */
export class EventTail {
  followers = 0
  /** Set once the run is over (or gone) and everything it wrote has been read. */
  isDrained = false
  private recent: { event: JobRunEvent; weight: number }[] = []
  private weight = 0
  /** Seq up to which the log was read; -1 before the first look. */
  private head = -1
  private looking: Promise<void> | null = null
  private lookAgain = false
  private failure: unknown = null
  private readonly waiting = new Set<() => void>()
  private readonly pages = new Map<number, Promise<JobRunEvent[]>>()
  private readonly stop: () => void
  private readonly closing = new AbortController()
  private readonly db: Db
  private readonly id: string

  constructor(db: Db, listener: Listener, id: string) {
    this.db = db
    this.id = id
    const look = () => this.look()
    const off = [listener.on('jobRunEvents', id, look), listener.on('jobRun', id, look), listener.onReconnect(look)]
    const timer = setInterval(look, LOOK_EVERY_MS)
    this.stop = () => {
      clearInterval(timer)
      for (const unsubscribe of off) unsubscribe()
    }
    look()
  }

  /** Nobody follows any more: nothing is tried again. */
  close(): void {
    this.stop()
    this.closing.abort()
  }

  /** The next events behind `after`, from memory or the database; empty when there are none yet, or `signal` aborts. */
  async next(after: number, signal?: AbortSignal): Promise<JobRunEvent[]> {
    const first = this.recent[0]?.event.seq
    if (first !== undefined && first <= after + 1)
      return this.recent.slice(after + 1 - first, after + 1 - first + PAGE).map((kept) => kept.event)
    // Followers at the same place, such as all of them after a reconnect, share one read.
    let page = this.pages.get(after)
    if (!page) {
      page = this.read(after).finally(() => this.pages.delete(after))
      this.pages.set(after, page)
    }
    return unlessAborted(page, signal)
  }

  /** Resolves when something may have changed since the caller last looked at `next`, or `signal` aborts. */
  async changed(after: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.failure) throw this.failure
    if (this.isDrained || this.head > after || signal?.aborted) return
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
    if (this.failure) throw this.failure
  }

  private patiently<T>(read: () => PromiseLike<T>): Promise<T> {
    return patiently(read, { forMs: PATIENCE_MS, signal: this.closing.signal })
  }

  private read(after: number): Promise<JobRunEvent[]> {
    return this.patiently(() =>
      this.db
        .select()
        .from(jobRunEvents)
        .where(and(eq(jobRunEvents.jobRunId, this.id), gt(jobRunEvents.seq, after)))
        .orderBy(asc(jobRunEvents.seq))
        .limit(PAGE),
    )
  }

  private look(): void {
    if (this.looking) {
      this.lookAgain = true
      return
    }
    this.looking = this.pull()
      .catch((error) => {
        this.failure = error
      })
      .finally(() => {
        this.looking = null
        for (const wake of [...this.waiting]) wake()
        if (this.lookAgain && !this.isDrained) {
          this.lookAgain = false
          this.look()
        }
      })
  }

  private async pull(): Promise<void> {
    // The run first: its last seq is written in the same transaction as the events, so everything up to it can be read.
    const [run] = await this.patiently(() =>
      this.db.select({ lastSeq: jobRuns.lastSeq, finishedAt: jobRuns.finishedAt }).from(jobRuns).where(eq(jobRuns.id, this.id)),
    )
    if (!run) {
      this.isDrained = true
      return
    }
    // What was there before anybody followed is read by those who want it.
    if (this.head === -1) this.head = run.lastSeq
    while (this.head < run.lastSeq) {
      const events = await this.read(this.head)
      if (events.length === 0) break
      this.keep(events)
    }
    if (run.finishedAt && this.head >= run.lastSeq) {
      this.isDrained = true
      this.stop()
    }
  }

  private keep(events: JobRunEvent[]): void {
    for (const event of events) {
      const kept = { event, weight: weight(event) }
      this.recent.push(kept)
      this.weight += kept.weight
    }
    this.head = events.at(-1)!.seq
    let drop = 0
    while (this.recent.length - drop > KEEP_EVENTS || (this.weight > KEEP_CHARACTERS && drop < this.recent.length - 1))
      this.weight -= this.recent[drop++]!.weight
    this.recent.splice(0, drop)
    for (const wake of [...this.waiting]) wake()
  }
}
