'use client'
import { useCallback, useRef, useState } from 'react'

/** Where the chosen rows are kept while their list is not on screen. */
type Kept = { read: () => string[]; write: (ids: string[]) => void }

/** The chosen rows of a list. Those that are kept stay chosen when one opens something and comes back, and over a reload. */
export function useSelection(rows: readonly { id: string }[], kept?: Kept) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(kept?.read()))
  const set = useCallback(
    (ids: Iterable<string>) => {
      const next = new Set(ids)
      kept?.write([...next])
      setSelected(next)
    },
    [kept],
  )
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
