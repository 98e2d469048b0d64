'use client'
import { useEffect, useRef, useState } from 'react'
import { plain } from './ansi.ts'
import type { LogStore } from './log-store.ts'

const mostHits = 10_000

/**
 * Lines that hold a text (any case), in order, among what has been loaded; goes on as more comes. It works in slices of a few
 * milliseconds, so typing never waits for a long log.
 */
export function useSearch(
  store: LogStore,
  version: number,
  text: string,
  host: string | null,
): { hits: number[]; isFull: boolean } {
  const [hits, setHits] = useState<number[]>([])
  const progress = useRef({ text: '', host: null as string | null, store, next: 0, hits: [] as number[] })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is more to search
  useEffect(() => {
    const wanted = text.toLowerCase()
    const before = progress.current
    if (before.text !== wanted || before.host !== host || before.store !== store) {
      progress.current = { text: wanted, host, store, next: 0, hits: [] }
      setHits([])
    }
    if (!wanted) return
    const mine = progress.current
    let timer: ReturnType<typeof setTimeout>
    function slice() {
      const until = performance.now() + 8
      mine.next = store.walk(mine.next, (startLine, raw, from) => {
        if (host === null || from === host) {
          if (raw.includes('\x1b') || raw.toLowerCase().includes(wanted)) {
            const lines = raw.split('\n')
            for (let index = 0; index < lines.length; index++) {
              if (
                plain(lines[index] as string)
                  .toLowerCase()
                  .includes(wanted)
              )
                mine.hits.push(startLine + index)
            }
          }
        }
        return mine.hits.length < mostHits && performance.now() < until
      })
      setHits((shown) => (shown.length === mine.hits.length ? shown : [...mine.hits]))
      if (mine.next < store.textCount && mine.hits.length < mostHits) timer = setTimeout(slice)
    }
    slice()
    return () => clearTimeout(timer)
  }, [store, version, text, host])
  return { hits, isFull: hits.length >= mostHits }
}
