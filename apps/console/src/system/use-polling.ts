import { useEffect, useRef } from 'react'

const INTERVAL_MS = 2000

/** Calls `read` every two seconds while `isActive`. */
export function usePolling(isActive: boolean, read: () => void): void {
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    if (!isActive) return
    const timer = setInterval(() => latest.current(), INTERVAL_MS)
    return () => clearInterval(timer)
  }, [isActive])
}
