import { t } from './index.ts'

const binary = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Bytes as a short binary size, as vendors label memory: 85899345920 -> "80 GiB". */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return t('common.none')
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < binary.length - 1) {
    value /= 1024
    unit++
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${binary[unit]}`
}

/** Milliseconds as a person would say them: 840 ms, 12.4 s, 3 m 05 s, 2 h 10 m. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return t('common.none')
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} m ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} m`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' })
const steps: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [3600, 'minute'],
  [86_400, 'hour'],
  [86_400 * 30, 'day'],
  [86_400 * 365, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
]
const divisors: Record<string, number> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  month: 86_400 * 30,
  year: 86_400 * 365,
}

/** "3m ago", relative to `now` (ms since epoch). The near past is "just now": clocks of two machines differ by that much. */
export function formatAgo(iso: string, now: number): string {
  const seconds = (new Date(iso).getTime() - now) / 1000
  const size = Math.abs(seconds)
  if (size < 5) return t('time.now')
  const unit = steps.find(([limit]) => size < limit)?.[1] ?? 'year'
  return relative.format(Math.trunc(seconds / (divisors[unit] ?? 1)), unit)
}

const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** Date and time in the reader's zone. */
export function formatDateTime(iso: string): string {
  return absolute.format(new Date(iso))
}

/** Time of day in the reader's zone, for dense lists within one run. */
export function formatClock(iso: string): string {
  return clock.format(new Date(iso))
}
