import { describe, expect, it } from 'vitest'
import { address, ago, bytes, clock, table, word } from './output.ts'

const columns = [
  { title: 'NAME', value: (n: { name: string; os: string | null }) => n.name },
  { title: 'OS', value: (n: { name: string; os: string | null }) => n.os, spare: true as const },
]

describe('table', () => {
  it('aligns its columns and shows what is missing as a dash', () => {
    expect(
      table(
        [
          { name: 'gpu01', os: 'Debian' },
          { name: 'x', os: null },
        ],
        columns,
      ),
    ).toEqual(['NAME   OS', 'gpu01  Debian', 'x      -'])
  })

  it('leaves out spare columns where the terminal is too narrow, and never the others', () => {
    const rows = [{ name: 'a-rather-long-name', os: 'Debian' }]
    expect(table(rows, columns, 26)).toEqual(['NAME                OS', 'a-rather-long-name  Debian'])
    expect(table(rows, columns, 25)).toEqual(['NAME', 'a-rather-long-name'])
    expect(table(rows, columns, 5)).toEqual(['NAME', 'a-rather-long-name'])
  })

  it('lets no text from a node move the cursor', () => {
    expect(table([{ name: 'a\u001b[2J\nb', os: '\u009b31m' }], columns)[1]).toBe('a [2J b   31m')
  })
})

it('says sizes, ages, durations and addresses as people do', () => {
  expect([0, 1023, 1536, 85899345920, null].map(bytes)).toEqual(['0 B', '1023 B', '1.5 KiB', '80 GiB', null])
  const now = Date.parse('2026-01-01T12:00:00Z')
  expect(['2026-01-01T11:59:30Z', '2026-01-01T11:00:00Z', '2025-12-30T00:00:00Z'].map((t) => ago(t, now))).toEqual([
    '30 s ago',
    '60 min ago',
    '3 d ago',
  ])
  expect(ago('2026-01-01T12:00:05Z', now)).toBe('0 s ago')
  expect([83_500, 3_661_000, 0, null].map(clock)).toEqual(['1:24', '1:01:01', '0:00', null])
  expect([address('10.0.0.1', 22), address('10.0.0.1', 2222), address('fe80::1', 2222)]).toEqual([
    '10.0.0.1',
    '10.0.0.1:2222',
    '[fe80::1]:2222',
  ])
})

it('quotes names for the shell they are typed into', () => {
  expect(['jump', 'lab bastion', "o'neil $(id)"].map(word)).toEqual(['jump', "'lab bastion'", "'o'\\''neil $(id)'"])
})
