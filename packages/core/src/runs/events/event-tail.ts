import { asc, getColumns, sql } from 'drizzle-orm'
import { batch } from '../../kernel/batch.ts'
import type { Db } from '../../kernel/db/client.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import type { ChangeEvent, Listener } from '../../kernel/events.ts'
import { retryTransient } from '../../kernel/retry-transient.ts'
import { jobRunChanged, jobRunEventsAppended } from '../change-events.ts'
import { type JobRun, type JobRunEvent, jobRunEvents, jobRuns } from '../tables.ts'

const PAGE = 500
// What one run's tail keeps for those who follow closely. Who is further behind reads pages from the database.
const KEEP_EVENTS = 4000
const KEEP_CHARACTERS = 4 * 1024 * 1024
const LOOK_EVERY_MS = 1000
const RUNS_PER_STATEMENT = 200
const PAGES_PER_STATEMENT = 100
// Of many pages each is shorter: an event may be large.
const EVENTS_PER_STATEMENT = 10_000

// Hand-written: one reader per run serves all its followers from one buffer, with NOTIFY as a hint and polling as the guarantee.

/** Covers a restart of Postgres. After that, subscriptions end and clients resubscribe with their last seq. */
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

type RunAsk = { id: string; columns: (keyof JobRun)[] }

/** What tails read; those that look at the same time share a statement. */
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

/** Runs with at least the columns that were asked for: they have many, and are read at every batch. */
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
  const page = db
    .select()
    .from(jobRunEvents)
    .where(sql`${jobRunEvents.jobRunId} = place.id and ${jobRunEvents.seq} > place.after`)
    .orderBy(asc(jobRunEvents.seq))
    .limit(Math.min(PAGE, Math.ceil(EVENTS_PER_STATEMENT / places.length)))
    .as('page')
  const [ids, afters] = [places.map((place) => place.id), places.map((place) => place.after)]
  const rows = await db
    .select({ place: sql<string>`place.n`.as('n'), event: page._.selectedFields })
    .from(sql`unnest(${sql.param(ids)}::uuid[], ${sql.param(afters)}::bigint[]) with ordinality as place(id, after, n)`)
    .crossJoinLateral(page)
  const pages: JobRunEvent[][] = places.map(() => [])
  for (const { place, event } of rows) pages[Number(place) - 1]!.push(event)
  // A join says nothing about order.
  for (const events of pages) events.sort((a, b) => a.seq - b.seq)
  return pages
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
  /** Seq that the log has reached, as far as is known from nudges and the run. */
  private heard = 0
  private asksRun = true
  private looking: Promise<void> | null = null
  private lookAgain = false
  private failure: unknown = null
  private readonly waiting = new Set<() => void>()
  /** Pages out of `recent` by what they follow, until more comes: who stands at the same place is given the same array. */
  private readonly newest = new Map<number, JobRunEvent[]>()
  private readonly pages = new Map<number, Promise<JobRunEvent[]>>()
  private readonly stop: () => void
  private readonly closing = new AbortController()
  private readonly reads: Reads
  private readonly id: string

  constructor(db: Db, listener: Listener, id: string) {
    this.reads = readsOf(db)
    this.id = id
    const look = () => {
      this.asksRun = true
      this.look()
    }
    const hear = (changeEvent: ChangeEvent) => {
      if (changeEvent.topic !== 'jobRunEvents' || typeof changeEvent.seq !== 'number') return
      this.heard = Math.max(this.heard, changeEvent.seq)
      this.look()
    }
    const off = [listener.on(jobRunEventsAppended, id, hear), listener.on(jobRunChanged, id, look), listener.onReconnect(look)]
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

  /** The next events behind `after` from memory; empty when there are none yet, null when only the database has them. */
  recentAfter(after: number): JobRunEvent[] | null {
    const first = this.recent[0]?.event.seq
    if (first === undefined || first > after + 1) return null
    const known = this.newest.get(after)
    if (known) return known
    const events = this.recent.slice(after + 1 - first, after + 1 - first + PAGE).map((kept) => kept.event)
    this.newest.set(after, events)
    return events
  }

  /** The next events behind `after` from the database; empty when there are none yet, or `signal` aborts. */
  async storedAfter(after: number, signal?: AbortSignal): Promise<JobRunEvent[]> {
    // Followers at the same place, such as all of them after a reconnect, share one read.
    let page = this.pages.get(after)
    if (!page) {
      page = this.read(after).finally(() => this.pages.delete(after))
      this.pages.set(after, page)
    }
    return unlessAborted(page, signal)
  }

  /** Resolves when there may be more behind `after`, or nothing will come any more, or `signal` aborts. */
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

  /** These columns of the run as they are now; undefined when it is gone. */
  run<C extends keyof JobRun>(columns: C[]): Promise<Pick<JobRun, C> | undefined> {
    return this.retryTransient(() => this.reads.run({ id: this.id, columns }))
  }

  private retryTransient<T>(read: () => PromiseLike<T>): Promise<T> {
    return retryTransient(read, { forMs: PATIENCE_MS, signal: this.closing.signal })
  }

  private read(after: number): Promise<JobRunEvent[]> {
    return this.retryTransient(() => this.reads.page({ id: this.id, after }))
  }

  private look(): void {
    if (this.looking) {
      this.lookAgain = true
      return
    }
    this.looking = this.pull()
      .catch((error) => {
        this.failure = error
        this.wakeAll()
      })
      .finally(() => {
        this.looking = null
        if (this.lookAgain && !this.isDrained) {
          this.lookAgain = false
          this.look()
        }
      })
  }

  private async pull(): Promise<void> {
    // A nudge says how far the log goes. That it is over only the run says: its last seq is written in the same transaction as
    // the events, so everything up to it can be read.
    let end: number | null = null
    if (this.asksRun) {
      this.asksRun = false
      const run = await this.run(['lastSeq', 'finishedAt'])
      if (!run) return this.end()
      // What was there before anybody followed is read by those who want it.
      if (this.head === -1) {
        this.head = run.lastSeq
        this.wakeAll()
      }
      this.heard = Math.max(this.heard, run.lastSeq)
      if (run.finishedAt) end = run.lastSeq
    }
    while (this.head < this.heard) {
      const events = await this.read(this.head)
      // Anybody can say that there is more than there is.
      if (events.length === 0) this.heard = this.head
      else this.keep(events)
    }
    if (end !== null && this.head >= end) this.end()
  }

  private end(): void {
    this.isDrained = true
    this.stop()
    this.wakeAll()
  }

  private keep(events: JobRunEvent[]): void {
    for (const event of events) {
      const kept = { event, weight: weight(event) }
      this.recent.push(kept)
      this.weight += kept.weight
    }
    this.newest.clear()
    this.head = events.at(-1)!.seq
    let drop = 0
    while (this.recent.length - drop > KEEP_EVENTS || (this.weight > KEEP_CHARACTERS && drop < this.recent.length - 1))
      this.weight -= this.recent[drop++]!.weight
    this.recent.splice(0, drop)
    this.wakeAll()
  }

  private wakeAll(): void {
    for (const wake of [...this.waiting]) wake()
  }
}
