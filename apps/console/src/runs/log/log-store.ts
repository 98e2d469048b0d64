import { visibleLength } from './ansi.ts'

/** One event of a run; `stdout` may contain several lines, numbered from `startLine` (the first line is 1). */
export type LogEvent = {
  seq: number
  kind: string
  host: string | null
  play: string | null
  task: string | null
  action: string | null
  isChanged: boolean | null
  durationMs: number | null
  stdout: string | null
  startLine: number
  lineCount: number
  createdAt: string
}
/** An entry of the events view; its result is read on demand. */
export type TaskEvent = Omit<LogEvent, 'stdout' | 'startLine' | 'lineCount'> & { line: number }

/**
 * A run's output in memory, built for a million lines: texts stay as received, lines are split on access, and only the width of each line is
 * stored. Append-only.
 */
export class LogStore {
  lastSeq = 0
  lineCount = 0
  /** Columns of the widest line so far. */
  widest = 0
  readonly tasks: TaskEvent[] = []
  readonly hosts = new Set<string>()
  private readonly texts: string[] = []
  private readonly textHosts: (string | null)[] = []
  private readonly starts: number[] = []
  private widths = new Uint32Array(4096)
  private readonly listeners = new Set<() => void>()
  private version = 0
  private frame = 0
  private cut: { text: number; lines: string[] } = { text: -1, lines: [] }

  /** Appends a batch of events. Known events are skipped, so a batch may repeat after a reconnect. */
  append(events: readonly LogEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.lastSeq) continue
      this.lastSeq = event.seq
      if (event.host) this.hosts.add(event.host)
      if (event.task && event.host) {
        const { stdout: _, startLine, lineCount: __, ...rest } = event
        this.tasks.push({ ...rest, line: startLine })
      }
      if (event.stdout !== null && event.lineCount > 0)
        this.appendText(event.stdout, event.startLine, event.lineCount, event.host)
    }
    this.changed()
  }

  private appendText(stdout: string, startLine: number, lineCount: number, host: string | null): void {
    this.starts.push(startLine)
    this.texts.push(stdout)
    this.textHosts.push(host)
    const end = startLine - 1 + lineCount
    if (end > this.widths.length) {
      const grown = new Uint32Array(Math.max(end, this.widths.length * 2))
      grown.set(this.widths)
      this.widths = grown
    }
    let from = 0
    for (let line = startLine; line <= end; line++) {
      const to = stdout.indexOf('\n', from)
      const width = visibleLength(to < 0 ? stdout.slice(from) : stdout.slice(from, to))
      this.widths[line - 1] = width
      if (width > this.widest) this.widest = width
      if (to < 0) break
      from = to + 1
    }
    this.lineCount = Math.max(this.lineCount, end)
  }

  /** Width of a line (from 1) in columns, without wrapping. */
  width(line: number): number {
    return this.widths[line - 1] ?? 0
  }

  /** The index of the text that contains a line: the last text that starts at or before it. */
  private textOf(line: number): number {
    let low = 0
    let high = this.starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.starts[middle] as number) <= line) low = middle
      else high = middle - 1
    }
    return low
  }

  /** A line (from 1) with its ANSI codes. */
  line(line: number): string {
    const text = this.textOf(line)
    if (this.cut.text !== text) this.cut = { text, lines: (this.texts[text] ?? '').split('\n') }
    return this.cut.lines[line - (this.starts[text] ?? 1)] ?? ''
  }

  host(line: number): string | null {
    return this.textHosts[this.textOf(line)] ?? null
  }

  /** Visits the texts from index `from` until `visit` returns false. Returns the index to continue at. */
  walk(from: number, visit: (startLine: number, text: string, host: string | null) => boolean): number {
    for (let index = from; index < this.texts.length; index++) {
      if (!visit(this.starts[index] as number, this.texts[index] as string, this.textHosts[index] ?? null)) return index + 1
    }
    return this.texts.length
  }

  get textCount(): number {
    return this.texts.length
  }

  /** For useSyncExternalStore; notifies at most once per frame. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }
  readonly snapshot = (): number => this.version

  private changed(): void {
    if (this.frame) return
    this.frame = requestAnimationFrame(() => {
      this.frame = 0
      this.version++
      for (const listener of this.listeners) listener()
    })
  }
}
