import { useEffect, useRef } from 'react'

const INTERVAL_MS = 2000

/** Calls `read` at this interval while `isActive`. */
export function usePolling(isActive: boolean, read: () => void, intervalMs = INTERVAL_MS): void {
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    if (!isActive) return
    const timer = setInterval(() => latest.current(), intervalMs)
    return () => clearInterval(timer)
  }, [isActive, intervalMs])
}
