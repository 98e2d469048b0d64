'use client'
import { useEffect, useState } from 'react'

/** Typing pauses when no key is pressed for this long. */
export const TYPING_PAUSE_MS = 300

/** A text as it was when typing last paused. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
