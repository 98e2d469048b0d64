'use client'
import { useCallback, useRef, useState } from 'react'

/** Stores the selection while its list is not mounted. */
type SelectionStore = { read: () => string[]; write: (ids: string[]) => void }

/** The selected rows of a list. With a store, the selection survives navigation and reloads. */
export function useSelection(rows: readonly { id: string }[], store?: SelectionStore) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set(store?.read()))
  const set = useCallback(
    (ids: Iterable<string>) => {
      const next = new Set(ids)
      store?.write([...next])
      setSelected(next)
    },
    [store],
  )
  const lastToggled = useRef(0)
  /** Toggles one row, or the range from the last toggled row to it. */
  const toggle = useCallback(
    (index: number, isRange: boolean) => {
      const row = rows[index]
      if (!row) return
      const next = new Set(selected)
      const [from, to] = isRange ? [Math.min(index, lastToggled.current), Math.max(index, lastToggled.current)] : [index, index]
      for (const { id } of rows.slice(from, to + 1)) {
        if (selected.has(row.id)) next.delete(id)
        else next.add(id)
      }
      lastToggled.current = index
      set(next)
    },
    [rows, selected, set],
  )
  return { selected, set, toggle }
}
