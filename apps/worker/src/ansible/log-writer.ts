import type { Ctx } from '@muster/core/context'
import { appendJobRunEvents, type NewJobRunEvent } from '@muster/core/jobs'
import { patiently } from '@muster/core/patiently'

/** What comes within this time of a write waits for its end. */
const PAUSE_MS = 50
/** What comes after a longer silence waits only for what comes with it. */
const BURST_MS = 5
const BATCH_EVENTS = 500
const BATCH_CHARACTERS = 1024 * 1024
// What may wait in memory before whoever produces is held up.
const WAITING_EVENTS = 2000
const WAITING_CHARACTERS = 4 * 1024 * 1024
/** Of a longer log only the events are kept, not what they show. */
const MAX_LOG_CHARACTERS = 512 * 1024 * 1024

const weight = (event: NewJobRunEvent) =>
  200 + (event.stdout?.length ?? 0) + (event.result ? JSON.stringify(event.result).length : 0)

/** Writes a run's events to its log in batches, in order, one batch at a time. */
export class LogWriter {
  /** Settles when writing has become impossible: the claim is lost, the database was away for too long or refuses an event. */
  readonly failed: Promise<Error>
  private fail!: (error: Error) => void
  private failure: Error | null = null
  private waiting: { event: NewJobRunEvent; weight: number }[] = []
  private weight = 0
  private total = 0
  private seq: number
  private writing: Promise<void> | null = null
  private wroteAt = 0
  private isDraining = false
  private hurry = () => {}
  private readonly roomy = new Set<() => void>()
  private readonly ctx: Ctx
  private readonly run: { id: string; token: string }

  /** @param seq the run's last seq so far: a run that is tried again goes on with its log */
  constructor(ctx: Ctx, run: { id: string; token: string; seq: number }) {
    this.ctx = ctx
    this.run = run
    this.seq = run.seq
    this.failed = new Promise((resolve) => {
      this.fail = resolve
    })
  }

  /** Add an event. Await the result before producing more: it waits while the database is behind. */
  async push(event: NewJobRunEvent): Promise<void> {
    if (this.failure) return
    let kept = event
    if (event.stdout && this.total > MAX_LOG_CHARACTERS) {
      if (event.kind === 'output') return
      kept = { ...event, stdout: null }
    } else if (event.stdout && this.total + event.stdout.length > MAX_LOG_CHARACTERS)
      kept = { ...event, stdout: 'This log is longer than 512 MiB; what is printed from here on is not kept.' }
    this.total += kept.stdout?.length ?? 0
    const item = { event: kept, weight: weight(kept) }
    this.waiting.push(item)
    this.weight += item.weight
    this.writing ??= this.write().finally(() => {
      this.writing = null
    })
    while (!this.failure && (this.waiting.length > WAITING_EVENTS || this.weight > WAITING_CHARACTERS))
      await new Promise<void>((resolve) => this.roomy.add(resolve))
  }

  /** Resolves when all that was pushed is written, or writing has failed. Does not wait for more to come. */
  async drain(): Promise<void> {
    this.isDraining = true
    this.hurry()
    while (this.writing) await this.writing
    this.isDraining = false
  }

  /** Events come in bursts: a moment's wait makes one transaction of many. */
  private async gather(): Promise<void> {
    if (this.isDraining) return
    const ms = Math.max(BURST_MS, this.wroteAt + PAUSE_MS - performance.now())
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private async write(): Promise<void> {
    await this.gather()
    while (this.waiting.length > 0 && !this.failure) {
      const batch = this.takeBatch()
      this.wroteAt = performance.now()
      try {
        this.seq = await patiently(() => appendJobRunEvents(this.ctx, { ...this.run, after: this.seq, events: batch }))
      } catch (error) {
        this.failure = error as Error
        this.waiting = []
        this.fail(this.failure)
      }
      for (const resolve of this.roomy) resolve()
      this.roomy.clear()
      if (this.waiting.length > 0 && this.waiting.length < BATCH_EVENTS && this.weight < BATCH_CHARACTERS) await this.gather()
    }
  }

  private takeBatch(): NewJobRunEvent[] {
    let count = 0
    let taken = 0
    for (const { weight } of this.waiting) {
      if (count > 0 && (count >= BATCH_EVENTS || taken + weight > BATCH_CHARACTERS)) break
      count++
      taken += weight
    }
    this.weight -= taken
    return this.waiting.splice(0, count).map(({ event }) => event)
  }
}
