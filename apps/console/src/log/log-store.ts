import { visibleLength } from './ansi.ts'

/** One event of a run as it comes over the wire; `stdout` may hold several lines, numbered from `startLine` (first line is 1). */
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
/** What the events view lists; the result itself is read when someone opens it. */
export type TaskEvent = Omit<LogEvent, 'stdout' | 'startLine' | 'lineCount'> & { line: number }

/**
 * A run's output in memory, made for a million lines: texts stay as the strings they came in, a line is cut out of its text only when
 * it is looked at, and per line no more is kept than its width. Grows at the end only.
 */
export class LogStore {
  lastSeq = 0
  lineCount = 0
  /** The widest line's columns so far. */
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

  /** Take in a batch. What was already here is left out, so a batch that comes twice after a reconnect does no harm. */
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

  /** Columns that a line (from 1) takes when not wrapped. */
  width(line: number): number {
    return this.widths[line - 1] ?? 0
  }

  /** Which text holds a line: the last that starts at or before it. */
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

  /** A line (from 1) as it came, ANSI and all. */
  line(line: number): string {
    const text = this.textOf(line)
    if (this.cut.text !== text) this.cut = { text, lines: (this.texts[text] ?? '').split('\n') }
    return this.cut.lines[line - (this.starts[text] ?? 1)] ?? ''
  }

  host(line: number): string | null {
    return this.textHosts[this.textOf(line)] ?? null
  }

  /** Walk over the texts from index `from`: first line's number, the text, its host. Returns where to go on next time. */
  walk(from: number, visit: (startLine: number, text: string, host: string | null) => boolean): number {
    for (let index = from; index < this.texts.length; index++) {
      if (!visit(this.starts[index] as number, this.texts[index] as string, this.textHosts[index] ?? null)) return index + 1
    }
    return this.texts.length
  }

  get textCount(): number {
    return this.texts.length
  }

  /** For React: changes at most once a frame, however fast batches come. */
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
