import type { Ctx } from '@muster/core/context'
import { retryTransient } from '@muster/core/retry-transient'
import { appendJobRunEvents, type NewJobRunEvent } from '@muster/core/runs'

/** Minimum time between two writes. */
const WRITE_INTERVAL_MS = 50
/** After a longer pause, events wait this long for the rest of their burst. */
const BURST_MS = 5
const BATCH_EVENTS = 500
const BATCH_CHARACTERS = 1024 * 1024
// Limits of the buffer; a producer waits while one is exceeded.
const MAX_BUFFERED_EVENTS = 2000
const MAX_BUFFERED_CHARACTERS = 4 * 1024 * 1024
/** Beyond this size events are stored without their text. */
const MAX_LOG_CHARACTERS = 512 * 1024 * 1024

const weight = (event: NewJobRunEvent) =>
  200 + (event.stdout?.length ?? 0) + (event.result ? JSON.stringify(event.result).length : 0)

/** Appends a run's events to its log in order, one batch at a time. */
export class LogWriter {
  /** Resolves when writing has become impossible: the claim is lost, or the database is unavailable for too long or rejects an event. */
  readonly failed: Promise<Error>
  private fail!: (error: Error) => void
  private failure: Error | null = null
  private buffer: { event: NewJobRunEvent; weight: number }[] = []
  private weight = 0
  private total = 0
  private seq: number
  private writing: Promise<void> | null = null
  private wroteAt = 0
  private isDraining = false
  private endGathering = () => {}
  private readonly producers = new Set<() => void>()
  private readonly ctx: Ctx
  private readonly run: { id: string; token: string }

  /** @param seq the run's last seq so far: a retried run continues its log */
  constructor(ctx: Ctx, run: { id: string; token: string; seq: number }) {
    this.ctx = ctx
    this.run = run
    this.seq = run.seq
    this.failed = new Promise((resolve) => {
      this.fail = resolve
    })
  }

  /** Adds an event. Callers await it before producing more: it waits while the database falls behind. */
  async push(event: NewJobRunEvent): Promise<void> {
    if (this.failure) return
    let stored = event
    if (event.stdout && this.total > MAX_LOG_CHARACTERS) {
      if (event.kind === 'output') return
      stored = { ...event, stdout: null }
    } else if (event.stdout && this.total + event.stdout.length > MAX_LOG_CHARACTERS)
      stored = { ...event, stdout: 'This log exceeds 512 MiB; further output is not stored.' }
    this.total += stored.stdout?.length ?? 0
    const item = { event: stored, weight: weight(stored) }
    this.buffer.push(item)
    this.weight += item.weight
    this.writing ??= this.write().finally(() => {
      this.writing = null
    })
    while (!this.failure && (this.buffer.length > MAX_BUFFERED_EVENTS || this.weight > MAX_BUFFERED_CHARACTERS))
      await new Promise<void>((resolve) => this.producers.add(resolve))
  }

  /** Resolves when all pushed events are written, or writing has failed. */
  async drain(): Promise<void> {
    this.isDraining = true
    this.endGathering()
    while (this.writing) await this.writing
    this.isDraining = false
  }

  /** Events come in bursts: a short wait combines them into one transaction. */
  private async gather(): Promise<void> {
    if (this.isDraining) return
    const ms = Math.max(BURST_MS, this.wroteAt + WRITE_INTERVAL_MS - performance.now())
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.endGathering = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private async write(): Promise<void> {
    await this.gather()
    while (this.buffer.length > 0 && !this.failure) {
      const batch = this.takeBatch()
      this.wroteAt = performance.now()
      try {
        this.seq = await retryTransient(() => appendJobRunEvents(this.ctx, { ...this.run, after: this.seq, events: batch }))
      } catch (error) {
        this.failure = error as Error
        this.buffer = []
        this.fail(this.failure)
      }
      for (const resolve of this.producers) resolve()
      this.producers.clear()
      if (this.buffer.length > 0 && this.buffer.length < BATCH_EVENTS && this.weight < BATCH_CHARACTERS) await this.gather()
    }
  }

  private takeBatch(): NewJobRunEvent[] {
    let count = 0
    let taken = 0
    for (const { weight } of this.buffer) {
      if (count > 0 && (count >= BATCH_EVENTS || taken + weight > BATCH_CHARACTERS)) break
      count++
      taken += weight
    }
    this.weight -= taken
    return this.buffer.splice(0, count).map(({ event }) => event)
  }
}
