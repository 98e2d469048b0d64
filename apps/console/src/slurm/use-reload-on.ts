'use client'
import { useEffect, useRef } from 'react'

/** Calls `reload` when `value` changes: the lists of a cluster change with each refresh. */
export function useReloadOn(value: string | null, reload: () => unknown): void {
  const known = useRef(value)
  useEffect(() => {
    if (known.current === value) return
    known.current = value
    void reload()
  }, [value, reload])
}
