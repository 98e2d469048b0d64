'use client'
import clsx from 'clsx'
import { ArrowDown } from 'lucide-react'
import { memo, type Ref, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { t } from '@/messages/index.ts'
import { maxDisplayLength, spansOf } from './ansi.ts'
import { highlight } from './highlight.ts'
import { LogLayout } from './log-layout.ts'
import type { LogStore } from './log-store.ts'

const rowHeight = 20
/** Browsers limit element heights; a taller log scrolls proportionally. */
const maxHeight = 8_000_000
const overscan = 12

export type LogViewHandle = { showLine: (line: number) => void }
type Props = {
  ref?: Ref<LogViewHandle>
  store: LogStore
  version: number
  /** Line numbers to show in ascending order; null for all. */
  lines: number[] | null
  wrap: boolean
  follow: boolean
  onFollow: (follow: boolean) => void
  marked: number | null
  onMark: (line: number) => void
  search: string
}

/** The index of the first line number at or after `line`, in ascending numbers. */
function firstAtOrAfter(lines: number[], line: number): number {
  let low = 0
  let high = lines.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle] as number) >= line) high = middle
    else low = middle + 1
  }
  return Math.max(0, low)
}

/** Width of one monospace column in the given element, in px. */
function columnWidth(element: HTMLElement): number {
  const probe = document.createElement('span')
  probe.textContent = '0'.repeat(100)
  probe.className = 'absolute invisible whitespace-pre'
  element.append(probe)
  const width = probe.getBoundingClientRect().width / 100
  probe.remove()
  return width || 7.2
}

/** The text of a line with its colors. A rendered line never changes, so it renders once while it is near the viewport. */
const LineText = memo(function LineText({ text, className }: { text: string; className: string }) {
  const spans = spansOf(text)
  return (
    <span data-text className={className}>
      {spans.map(({ text, className, color, background }, index) =>
        className || color || background ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a text never change
          <span key={index} className={className || undefined} style={{ color, background }}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
      {spans.every(({ text }) => text === '') && '\u00a0'}
    </span>
  )
})

/** The log lines; only those near the viewport are rendered. Follows the end until the user scrolls up, and again at the end. */
export function LogView({ ref, store, version, lines, wrap, follow, onFollow, marked, onMark, search }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 400, column: 7.2 })
  const [scroll, setScroll] = useState(0)
  const lastTop = useRef(0)
  /** The top line and the offset into it; keeps the scroll position across layouts. */
  const anchor = useRef({ line: 1, into: 0 })
  const leftAt = useRef(0)

  const count = lines ? lines.length : store.lineCount
  const digits = Math.max(3, String(store.lineCount).length)
  const gutter = Math.ceil((digits + 2) * size.column) + 8
  const columns = wrap ? Math.max(20, Math.floor((size.width - gutter - 14) / size.column)) : null
  const layout = useMemo(
    () =>
      new LogLayout(
        (index) => (lines ? (lines[index] ?? 1) : index + 1),
        (line) => store.width(line),
        columns,
      ),
    [store, lines, columns],
  )
  layout.extend(count)

  const full = layout.totalRows * rowHeight
  const height = Math.min(full, maxHeight)
  const ratio = height > size.height ? (full - size.height) / (height - size.height) : 1
  const offset = scroll * ratio
  const first = Math.max(0, layout.indexAt(offset / rowHeight) - overscan)
  const visible: number[] = []
  const top = layout.rowAt(first) * rowHeight
  for (let index = first, y = top; index < count && y < offset + size.height + overscan * rowHeight; index++) {
    visible.push(index)
    y += layout.rowsOf(index) * rowHeight
  }

  useEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight, column: columnWidth(element) })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    // The monospace font may load after the first paint and differ in width from its fallback.
    void document.fonts.ready.then(measure)
    return () => observer.disconnect()
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves when the content grows or its layout changes
  useLayoutEffect(() => {
    const element = box.current
    if (!element || !follow) return
    element.scrollTop = element.scrollHeight
    lastTop.current = element.scrollTop
    leftAt.current = count
    setScroll(element.scrollTop)
  }, [follow, full, size, count])

  // biome-ignore lint/correctness/useExhaustiveDependencies: these move the rows below
  useLayoutEffect(() => {
    const element = box.current
    if (!element || follow) return
    const index = lines ? firstAtOrAfter(lines, anchor.current.line) : anchor.current.line - 1
    element.scrollTop = (layout.rowAt(Math.max(0, index)) * rowHeight + anchor.current.into) / ratio
    lastTop.current = element.scrollTop
    setScroll(element.scrollTop)
  }, [layout, ratio])

  function onScroll() {
    const element = box.current
    if (!element) return
    const at = element.scrollTop * ratio
    const topIndex = layout.indexAt(at / rowHeight)
    anchor.current = { line: lines ? (lines[topIndex] ?? 1) : topIndex + 1, into: at - layout.rowAt(topIndex) * rowHeight }
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 4
    const isUp = element.scrollTop < lastTop.current - 1
    lastTop.current = element.scrollTop
    setScroll(element.scrollTop)
    if (isAtEnd && !follow) onFollow(true)
    else if (isUp && !isAtEnd && follow) onFollow(false)
  }

  const showLine = useCallback(
    (line: number) => {
      const element = box.current
      const index = lines ? lines.indexOf(line) : line - 1
      if (!element || index < 0) return
      onFollow(false)
      element.scrollTop = Math.max(0, (layout.rowAt(index) * rowHeight - element.clientHeight / 3) / ratio)
      const top = layout.indexAt((element.scrollTop * ratio) / rowHeight)
      anchor.current = { line: lines ? (lines[top] ?? 1) : top + 1, into: 0 }
      lastTop.current = element.scrollTop
      setScroll(element.scrollTop)
    },
    [lines, layout, ratio, onFollow],
  )
  useImperativeHandle(ref, () => ({ showLine }), [showLine])

  // biome-ignore lint/correctness/useExhaustiveDependencies: these change the rendered rows
  useEffect(() => highlight(box.current, search, marked), [search, marked, first, count, version, wrap])

  const newLines = Math.max(0, count - leftAt.current)
  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable for the keyboard to scroll it
        tabIndex={0}
        aria-label={t('log.label')}
        data-testid="log"
        data-following={follow}
        onScroll={onScroll}
        className="absolute inset-0 overflow-auto bg-sunken font-mono text-[12px] leading-[20px] [overflow-anchor:none]"
      >
        <div
          className="relative"
          style={{
            height,
            minWidth: wrap ? undefined : `${gutter + Math.min(store.widest, maxDisplayLength) * size.column + 24}px`,
          }}
        >
          <div className="absolute inset-x-0 top-0" style={{ transform: `translateY(${scroll + (top - offset)}px)` }}>
            {visible.map((index) => {
              const line = lines ? (lines[index] ?? 0) : index + 1
              return (
                <div
                  key={line}
                  data-line={line}
                  className={clsx('flex', line === marked ? 'bg-accent-soft' : 'hover:bg-hover/60')}
                  style={{ height: layout.rowsOf(index) * rowHeight }}
                >
                  <a
                    href={`#L${line}`}
                    tabIndex={-1}
                    onClick={(event) => {
                      event.preventDefault()
                      onMark(line)
                    }}
                    className={clsx(
                      'sticky left-0 shrink-0 pr-2 text-right tabular-nums select-none hover:text-accent',
                      line === marked ? 'bg-accent-soft text-accent' : 'bg-sunken text-faint',
                    )}
                    style={{ width: gutter }}
                  >
                    {line}
                  </a>
                  <LineText
                    text={store.line(line)}
                    className={clsx('min-w-0 pl-1.5', wrap ? 'flex-1 break-all whitespace-pre-wrap' : 'whitespace-pre')}
                  />
                </div>
              )
            })}
          </div>
        </div>
      </section>
      {!follow && full > size.height && (
        <button
          type="button"
          onClick={() => onFollow(true)}
          className="absolute bottom-4 left-1/2 inline-flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line-strong bg-panel px-3.5 text-sm font-medium shadow-float hover:bg-hover"
        >
          <ArrowDown className="size-3.5" aria-hidden />
          {newLines > 0 ? t('log.newLines', { count: newLines }) : t('log.toEnd')}
        </button>
      )}
      <span className="sr-only">{t('log.lines', { count: store.lineCount })}</span>
    </div>
  )
}
