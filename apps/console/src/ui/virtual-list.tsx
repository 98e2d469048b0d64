'use client'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'

type Props<T> = {
  rows: T[]
  rowHeight: number
  renderRow: (row: T, index: number) => ReactNode
  /** Called when the user scrolls near the end of the loaded rows. */
  onNearEnd: () => void
  hasMore: boolean
  label: string
}

/** Rows of equal height that scroll with the page; only rows near the viewport are rendered. */
export function VirtualList<T extends { id: string }>({ rows, rowHeight, renderRow, onNearEnd, hasMore, label }: Props<T>) {
  const top = useRef<HTMLUListElement>(null)
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top.current?.offsetTop ?? 0,
    getItemKey: (index) => rows[index]?.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new height needs a new measurement
  useEffect(() => virtualizer.measure(), [rowHeight, virtualizer])
  useEffect(() => {
    if (hasMore && last >= rows.length - 40) onNearEnd()
  }, [hasMore, last, rows.length, onNearEnd])
  return (
    <ul
      ref={top}
      aria-label={label}
      className="relative"
      style={{ height: virtualizer.getTotalSize() + (hasMore ? rowHeight : 0) }}
    >
      {items.map((item) => {
        const row = rows[item.index]
        return (
          row && (
            <li
              key={item.key}
              aria-setsize={hasMore ? -1 : rows.length}
              aria-posinset={item.index + 1}
              className="absolute inset-x-0 top-0"
              style={{ height: rowHeight, transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)` }}
            >
              {renderRow(row, item.index)}
            </li>
          )
        )
      })}
      {hasMore && (
        <li className="absolute inset-x-0 bottom-0 flex items-center px-4" style={{ height: rowHeight }} aria-hidden>
          <div className="skeleton h-3 w-48" />
        </li>
      )}
    </ul>
  )
}
