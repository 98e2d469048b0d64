import { getFormat, t } from './index.ts'

const binaryUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Formats bytes in binary units, as vendors label memory: 85899345920 -> "80 GiB". */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return t('common.none')
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < binaryUnits.length - 1) {
    value /= 1024
    unit++
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${binaryUnits[unit]}`
}

/** Formats milliseconds with the two largest units: 840 ms, 12.4 s, 3 m 05 s, 2 h 10 m. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return t('common.none')
  if (ms < 1000) return t('time.milliseconds', { value: Math.round(ms) })
  const seconds = ms / 1000
  if (seconds < 60) return t('time.seconds', { value: seconds.toFixed(1) })
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return t('time.minutes', { minutes, seconds: twoDigits(seconds % 60) })
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return t('time.hours', { hours, minutes: twoDigits(minutes % 60) })
  return t('time.days', { days: Math.floor(hours / 24), hours: hours % 24 })
}

const twoDigits = (value: number) => String(Math.floor(value)).padStart(2, '0')

/** "3m ago", relative to `now` (ms since epoch). Below 5 s it is "just now": clocks of two machines differ by that much. */
export function formatRelativeTime(iso: string, now: number): string {
  const time = new Date(iso).getTime()
  if (Math.abs(time - now) < 5000) return t('time.now')
  return getFormat().relativeTime(time, { now, style: 'narrow' })
}

/** Date and time in the time zone of the browser, on a 24-hour clock. */
export function formatDateTime(iso: string): string {
  return getFormat().dateTime(new Date(iso), { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })
}

/** Time of day in the time zone of the browser, for dense lists within one run. */
export function formatTimeOfDay(iso: string): string {
  return getFormat().dateTime(new Date(iso), { timeStyle: 'medium', hourCycle: 'h23' })
}

/** "a, b and c". */
export function formatList(items: readonly string[]): string {
  return getFormat().list(items, { type: 'conjunction' })
}
