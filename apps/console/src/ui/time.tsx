'use client'
import { useSyncExternalStore } from 'react'
import { formatAgo, formatDateTime, formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'

// One clock for every relative time on screen.
let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
function subscribe(listener: () => void) {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** The present, in ms since the epoch, once a second. */
export function useNow(): number {
  return useSyncExternalStore(
    subscribe,
    () => now,
    () => now,
  )
}

/** "3m ago", with the exact time on hover. */
export function Ago({ at, never }: { at: string | null | undefined; never?: string }) {
  const present = useNow()
  if (!at) return <span className="text-faint">{never ?? t('common.none')}</span>
  return (
    <time dateTime={at} title={formatDateTime(at)} className="whitespace-nowrap">
      {formatAgo(at, present)}
    </time>
  )
}

/** How long something took, or has been going on. */
export function Elapsed({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const present = useNow()
  if (!from) return <span className="text-faint">{t('common.none')}</span>
  return (
    <span className="whitespace-nowrap tabular-nums">
      {formatDuration(Math.max(0, (to ? new Date(to).getTime() : present) - new Date(from).getTime()))}
    </span>
  )
}
