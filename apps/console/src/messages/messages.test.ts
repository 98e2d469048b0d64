import { expect, test } from 'vitest'
import { formatBytes, formatDuration, formatList, formatRelativeTime } from './format.ts'
import { t } from './index.ts'

test('fills placeholders and selects plural forms', () => {
  expect(t('nodes.select', { name: 'gpu01' })).toBe('Select gpu01')
  expect(t('log.lines', { count: 1 })).toBe('1 line')
  expect(t('log.lines', { count: 1_000_000 })).toBe('1,000,000 lines')
})

test('formats sizes, durations, relative times and lists', () => {
  expect([85_899_345_920, 1_649_267_441_664, 512, null].map(formatBytes)).toEqual(['80 GiB', '1.5 TiB', '512 B', '–'])
  expect([840, 12_400, 185_000, 7_800_000, 200_000_000].map(formatDuration)).toEqual([
    '840 ms',
    '12.4 s',
    '3 m 05 s',
    '2 h 10 m',
    '2 d 7 h',
  ])
  const now = Date.parse('2026-01-01T00:00:00Z')
  const times = ['2025-12-31T23:59:58Z', '2025-12-31T23:57:00Z', '2025-12-30T00:00:00Z']
  expect(times.map((iso) => formatRelativeTime(iso, now))).toEqual(['just now', '3m ago', '2d ago'])
  expect(formatList(['a', 'b', 'c'])).toBe('a, b, and c')
})
