'use client'
import { useSyncExternalStore } from 'react'
import { formatDateTime, formatDuration, formatRelativeTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'

// One timer serves all relative times on the page.
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

/** The current time in ms since the epoch, updated every second. */
export function useNow(): number {
  return useSyncExternalStore(
    subscribe,
    () => now,
    () => now,
  )
}

/** "3m ago", with the exact time as its title. */
export function RelativeTime({ at, never }: { at: string | null | undefined; never?: string }) {
  const current = useNow()
  if (!at) return <span className="text-faint">{never ?? t('common.none')}</span>
  return (
    <time dateTime={at} title={formatDateTime(at)} className="whitespace-nowrap">
      {formatRelativeTime(at, current)}
    </time>
  )
}

/** Duration of something that finished, or that is still in progress. */
export function Elapsed({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const current = useNow()
  if (!from) return <span className="text-faint">{t('common.none')}</span>
  return (
    <span className="whitespace-nowrap tabular-nums">
      {formatDuration(Math.max(0, (to ? new Date(to).getTime() : current) - new Date(from).getTime()))}
    </span>
  )
}
