import { expect, test } from 'vitest'
import { en } from './en.ts'
import { formatAgo, formatBytes, formatDuration } from './format.ts'
import { t } from './index.ts'

test('a text is filled in, and counted texts choose their form', () => {
  expect(t('nodes.select', { name: 'gpu01' })).toBe('Select gpu01')
  expect(t('log.lines', { count: 1 })).toBe('1 line')
  expect(t('log.lines', { count: 1_000_000 })).toBe('1,000,000 lines')
})

test('both forms of a counted text take the same values', () => {
  const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).filter((name) => name !== 'count')
  const uneven = Object.entries(en).filter(
    ([, text]) => typeof text !== 'string' && names(text.one).join() !== names(text.other).join(),
  )
  expect(uneven).toEqual([])
})

test('sizes, durations and ages read as people say them', () => {
  expect([85_899_345_920, 1_649_267_441_664, 512, null].map(formatBytes)).toEqual(['80 GiB', '1.5 TiB', '512 B', '–'])
  expect([840, 12_400, 185_000, 7_800_000, 200_000_000].map(formatDuration)).toEqual([
    '840 ms',
    '12.4 s',
    '3 m 05 s',
    '2 h 10 m',
    '2 d 7 h',
  ])
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(['2025-12-31T23:59:58Z', '2025-12-31T23:57:00Z', '2025-12-30T00:00:00Z'].map((iso) => formatAgo(iso, now))).toEqual([
    'just now',
    '3m ago',
    '2d ago',
  ])
})
