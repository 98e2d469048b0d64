'use client'
import { useEffect, useRef, useState } from 'react'
import { plain } from './ansi.ts'
import type { LogStore } from './log-store.ts'

const maxHits = 10_000

/**
 * Loaded lines that contain a text (case-insensitive), in order; continues as more lines load. Works in slices of a few milliseconds
 * to keep typing responsive.
 */
export function useSearch(
  store: LogStore,
  version: number,
  text: string,
  host: string | null,
): { hits: number[]; isFull: boolean } {
  const [hits, setHits] = useState<number[]>([])
  const progress = useRef({ text: '', host: null as string | null, store, next: 0, hits: [] as number[] })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version changes with the lines
  useEffect(() => {
    const needle = text.toLowerCase()
    const before = progress.current
    if (before.text !== needle || before.host !== host || before.store !== store) {
      progress.current = { text: needle, host, store, next: 0, hits: [] }
      setHits([])
    }
    if (!needle) return
    const search = progress.current
    let timer: ReturnType<typeof setTimeout>
    function slice() {
      const until = performance.now() + 8
      search.next = store.walk(search.next, (startLine, raw, from) => {
        if (host === null || from === host) {
          if (raw.includes('\x1b') || raw.toLowerCase().includes(needle)) {
            const lines = raw.split('\n')
            for (let index = 0; index < lines.length; index++) {
              if (
                plain(lines[index] as string)
                  .toLowerCase()
                  .includes(needle)
              )
                search.hits.push(startLine + index)
            }
          }
        }
        return search.hits.length < maxHits && performance.now() < until
      })
      setHits((shown) => (shown.length === search.hits.length ? shown : [...search.hits]))
      if (search.next < store.textCount && search.hits.length < maxHits) timer = setTimeout(slice)
    }
    slice()
    return () => clearTimeout(timer)
  }, [store, version, text, host])
  return { hits, isFull: hits.length >= maxHits }
}
