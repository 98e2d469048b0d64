'use client'
import { useEffect, useRef, useState } from 'react'
import type { useQueryState } from './use-query-state.ts'
import { TYPING_PAUSE_MS } from './use-settled.ts'

/** Text of an input that filters by `name` in the URL query. The query follows when typing pauses. */
export function useQueryText(query: ReturnType<typeof useQueryState>, name: string) {
  const current = query.get(name)
  const [text, setText] = useState(current)
  const sent = useRef(current)
  // Back, forward and "clear" change the URL; typed text is ahead of the URL.
  useEffect(() => {
    if (current !== sent.current) {
      sent.current = current
      setText(current)
    }
  }, [current])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      query.set({ [name]: text })
    }, TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, query, name])
  return [text, setText] as const
}
