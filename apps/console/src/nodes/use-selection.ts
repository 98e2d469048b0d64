'use client'
import { useCallback, useRef, useState } from 'react'
import { keepNodes, keptNodes } from './remembered.ts'

const name = 'selected-nodes'

/** The chosen rows of a list, kept in this tab: opening a node and coming back, or a reload, leaves them chosen. */
export function useSelection(rows: readonly { id: string }[]) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(keptNodes(name)))
  const set = useCallback((ids: Iterable<string>) => {
    const next = new Set(ids)
    keepNodes(name, [...next])
    setSelected(next)
  }, [])
  const lastPicked = useRef(0)
  /** Turn one row on or off, or with it all from the one picked before. */
  const pick = useCallback(
    (index: number, isRange: boolean) => {
      const row = rows[index]
      if (!row) return
      const next = new Set(selected)
      const [from, to] = isRange ? [Math.min(index, lastPicked.current), Math.max(index, lastPicked.current)] : [index, index]
      for (const { id } of rows.slice(from, to + 1)) {
        if (selected.has(row.id)) next.delete(id)
        else next.add(id)
      }
      lastPicked.current = index
      set(next)
    },
    [rows, selected, set],
  )
  return { selected, set, pick }
}
