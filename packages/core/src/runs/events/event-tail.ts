import { asc, getColumns, lte, sql } from 'drizzle-orm'
import { batch } from '../../kernel/batch.ts'
import type { Db } from '../../kernel/db/client.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import type { ChangeEvent, Listener } from '../../kernel/events.ts'
import { retryTransient } from '../../kernel/retry-transient.ts'
import { jobRunChanged, jobRunEventsAppended } from '../change-events.ts'
import { type JobRun, type JobRunEvent, jobRunEvents, jobRuns } from '../tables.ts'
import { bytesBefore, eventBytes, firstBytes } from './event-bytes.ts'

const PAGE = 500
/** A page has at least one event. */
const PAGE_BYTES = 256 * 1024
// Size of the tail's memory. Followers that are further behind read pages from the database.
const MAX_EVENTS = 4000
const MAX_BYTES = 4 * 1024 * 1024
const POLL_INTERVAL_MS = 1000
const RUNS_PER_STATEMENT = 200
const PAGES_PER_STATEMENT = 100
// A statement for many pages limits each page further, because events can be large.
const EVENTS_PER_STATEMENT = 10_000

// Hand-written: one reader per run serves all its followers from one buffer, with NOTIFY as a hint and polling as the guarantee.

/**
 * How long reads are retried; covers a restart of Postgres. After that, subscriptions end and clients resubscribe with their last
 * seq.
 */
const PATIENCE_MS = 60_000

/** Resolves to the result of `page`, or to an empty array when `signal` aborts. The page itself is shared and continues. */
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

type RunAsk = { id: string; columns: (keyof JobRun)[] }

/** Reads of all tails. Concurrent reads share a statement. */
type Reads = {
  run(ask: RunAsk): Promise<JobRun | undefined>
  page(place: { id: string; after: number }): Promise<JobRunEvent[]>
}
const reads = new WeakMap<Db, Reads>()

function readsOf(db: Db): Reads {
  const known = reads.get(db) ?? {
    run: batch((asks: RunAsk[]) => readRuns(db, asks), RUNS_PER_STATEMENT),
    page: batch((places: { id: string; after: number }[]) => readPages(db, places), PAGES_PER_STATEMENT),
  }
  reads.set(db, known)
  return known
}

/**
 * Returns runs with at least the requested columns. Selects no others, because runs have many columns and every batch reads them.
 */
async function readRuns(db: Db, asks: RunAsk[]): Promise<(JobRun | undefined)[]> {
  const all = getColumns(jobRuns)
  const names = new Set(['id' as const, ...asks.flatMap((ask) => ask.columns)])
  const columns = Object.fromEntries([...names].map((name) => [name, all[name]])) as typeof all
  const ids = [...new Set(asks.map((ask) => ask.id))]
  const rows = await db.select(columns).from(jobRuns).where(isOneOf(jobRuns.id, ids))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return asks.map((ask) => byId.get(ask.id))
}

async function readPages(db: Db, places: { id: string; after: number }[]): Promise<JobRunEvent[][]> {
  const candidates = db
    .select({ ...getColumns(jobRunEvents), bytesBefore: bytesBefore(sql`${jobRunEvents.seq}`).as('bytes_before') })
    .from(jobRunEvents)
    .where(sql`${jobRunEvents.jobRunId} = place.id and ${jobRunEvents.seq} > place.after`)
    .orderBy(asc(jobRunEvents.seq))
    .limit(Math.min(PAGE, Math.ceil(EVENTS_PER_STATEMENT / places.length)))
    .as('page')
  const { bytesBefore: before, ...event } = candidates._.selectedFields
  const [ids, afters] = [places.map((place) => place.id), places.map((place) => place.after)]
  const rows = await db
    .select({ place: sql<string>`place.n`.as('n'), event })
    .from(sql`unnest(${sql.param(ids)}::uuid[], ${sql.param(afters)}::bigint[]) with ordinality as place(id, after, n)`)
    .crossJoinLateral(candidates)
    .where(lte(before, PAGE_BYTES))
  const pages: JobRunEvent[][] = places.map(() => [])
  for (const { place, event } of rows) pages[Number(place) - 1]!.push(event)
  // A join does not guarantee an order.
  for (const events of pages) events.sort((a, b) => a.seq - b.seq)
  return pages.map((events) => firstBytes(events, PAGE_BYTES))
}

/**
 * The end of one run's log. All followers in this process share it, so it is read once. It polls on every change event and at
 * least once a second; polls never overlap.
 */
export class EventTail {
  followers = 0
  /** Set when the run ended or was deleted, and all its events were read. */
  isDrained = false
  private recent: { event: JobRunEvent; weight: number }[] = []
  private weight = 0
  /** Seq up to which the log was read; -1 before the first poll. */
  private head = -1
  /** Highest seq known from change events and from the run. */
  private knownSeq = 0
  private readsRun = true
  private polling: Promise<void> | null = null
  private pollAgain = false
  private failure: unknown = null
  private readonly waiting = new Set<() => void>()
  /** Pages outside `recent`, by the seq they follow, until new events arrive. Followers at the same position share one array. */
  private readonly newest = new Map<number, JobRunEvent[]>()
  private readonly pages = new Map<number, Promise<JobRunEvent[]>>()
  private readonly stop: () => void
  private readonly closing = new AbortController()
  private readonly reads: Reads
  private readonly id: string

  constructor(db: Db, listener: Listener, id: string) {
    this.reads = readsOf(db)
    this.id = id
    const refresh = () => {
      this.readsRun = true
      this.poll()
    }
    const onAppend = (changeEvent: ChangeEvent) => {
      if (changeEvent.topic !== 'jobRunEvents' || typeof changeEvent.seq !== 'number') return
      this.knownSeq = Math.max(this.knownSeq, changeEvent.seq)
      this.poll()
    }
    const off = [
      listener.on(jobRunEventsAppended, id, onAppend),
      listener.on(jobRunChanged, id, refresh),
      listener.onReconnect(refresh),
    ]
    const timer = setInterval(refresh, POLL_INTERVAL_MS)
    this.stop = () => {
      clearInterval(timer)
      for (const unsubscribe of off) unsubscribe()
    }
    refresh()
  }

  /** Called when the last follower leaves. Stops all retries. */
  close(): void {
    this.stop()
    this.closing.abort()
  }

  /** Returns the next events after `after` from memory. Empty when there are none yet; null when only the database has them. */
  recentAfter(after: number): JobRunEvent[] | null {
    const first = this.recent[0]?.event.seq
    if (first === undefined || first > after + 1) return null
    const known = this.newest.get(after)
    if (known) return known
    const start = after + 1 - first
    const events: JobRunEvent[] = []
    let bytes = 0
    for (const { event, weight } of this.recent.slice(start, start + PAGE)) {
      bytes += weight
      if (bytes > PAGE_BYTES && events.length > 0) break
      events.push(event)
    }
    this.newest.set(after, events)
    return events
  }

  /** Returns the next events after `after` from the database. Empty when there are none yet or `signal` aborts. */
  async storedAfter(after: number, signal?: AbortSignal): Promise<JobRunEvent[]> {
    // Followers at the same position share one read, for example all of them after a reconnect.
    let page = this.pages.get(after)
    if (!page) {
      page = this.read(after).finally(() => this.pages.delete(after))
      this.pages.set(after, page)
    }
    return unlessAborted(page, signal)
  }

  /** Resolves when there may be events after `after`, when the log is complete, or when `signal` aborts. */
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

  /** Returns the current values of these columns of the run; undefined when it was deleted. */
  run<C extends keyof JobRun>(columns: C[]): Promise<Pick<JobRun, C> | undefined> {
    return this.retryTransient(() => this.reads.run({ id: this.id, columns }))
  }

  private retryTransient<T>(read: () => PromiseLike<T>): Promise<T> {
    return retryTransient(read, { forMs: PATIENCE_MS, signal: this.closing.signal })
  }

  private read(after: number): Promise<JobRunEvent[]> {
    return this.retryTransient(() => this.reads.page({ id: this.id, after }))
  }

  private poll(): void {
    if (this.polling) {
      this.pollAgain = true
      return
    }
    this.polling = this.pull()
      .catch((error) => {
        this.failure = error
        this.wakeAll()
      })
      .finally(() => {
        this.polling = null
        if (this.pollAgain && !this.isDrained) {
          this.pollAgain = false
          this.poll()
        }
      })
  }

  private async pull(): Promise<void> {
    // A change event carries the last seq; only the row shows that the run ended. One transaction writes the row's last seq and
    // the events, so all events up to it are readable.
    let end: number | null = null
    if (this.readsRun) {
      this.readsRun = false
      const run = await this.run(['lastSeq', 'finishedAt'])
      if (!run) return this.end()
      // Followers read the events from before the first poll themselves.
      if (this.head === -1) {
        this.head = run.lastSeq
        this.wakeAll()
      }
      this.knownSeq = Math.max(this.knownSeq, run.lastSeq)
      if (run.finishedAt) end = run.lastSeq
    }
    while (this.head < this.knownSeq) {
      const events = await this.read(this.head)
      // The sender of a change event is not authenticated, so its seq can be too high.
      if (events.length === 0) this.knownSeq = this.head
      else this.buffer(events)
    }
    if (end !== null && this.head >= end) this.end()
  }

  private end(): void {
    this.isDrained = true
    this.stop()
    this.wakeAll()
  }

  private buffer(events: JobRunEvent[]): void {
    for (const event of events) {
      const item = { event, weight: eventBytes(event) }
      this.recent.push(item)
      this.weight += item.weight
    }
    this.newest.clear()
    this.head = events.at(-1)!.seq
    let drop = 0
    while (this.recent.length - drop > MAX_EVENTS || (this.weight > MAX_BYTES && drop < this.recent.length - 1))
      this.weight -= this.recent[drop++]!.weight
    this.recent.splice(0, drop)
    this.wakeAll()
  }

  private wakeAll(): void {
    for (const wake of [...this.waiting]) wake()
  }
}
