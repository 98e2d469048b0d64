import { describe, expect, it, vi } from 'vitest'
import type { Format } from './command.ts'
import { address, ago, bytes, clock, hasColors, plain, printRows, shellQuote, table, toJson } from './output.ts'

const columns = [
  { title: 'NAME', value: (n: { name: string; os: string | null }) => n.name },
  { title: 'OS', value: (n: { name: string; os: string | null }) => n.os, wide: true as const },
]

const rows = [
  { name: 'gpu01', os: 'Debian' },
  { name: 'x', os: null },
]

describe('table', () => {
  it('aligns columns and shows missing values as a dash', () => {
    expect(table(rows, columns)).toEqual({ lines: ['NAME   OS', 'gpu01  Debian', 'x      -'], hidden: [] })
  })

  it('hides only wide columns on a narrow terminal and returns their titles', () => {
    const long = [{ name: 'a-rather-long-name', os: 'Debian' }]
    expect(table(long, columns, 26)).toEqual({ lines: ['NAME                OS', 'a-rather-long-name  Debian'], hidden: [] })
    expect(table(long, columns, 25)).toEqual({ lines: ['NAME', 'a-rather-long-name'], hidden: ['OS'] })
    expect(table(long, columns, 5)).toEqual({ lines: ['NAME', 'a-rather-long-name'], hidden: ['OS'] })
  })

  it('removes control characters of nodes', () => {
    expect(table([{ name: 'a\u001b[2J\nb', os: '\u009b31m' }], columns).lines[1]).toBe('a [2J b   31m')
  })
})

describe('printRows', () => {
  /** Standard output and standard error of printing on a terminal of this width. */
  function printed(output: Format, { headers = true, width }: { headers?: boolean; width?: number } = {}) {
    const text = { out: '', err: '' }
    const collect = (stream: 'out' | 'err') => (chunk: unknown) => {
      text[stream] += chunk
      return true
    }
    vi.spyOn(process.stdout, 'write').mockImplementation(collect('out'))
    vi.spyOn(process.stderr, 'write').mockImplementation(collect('err'))
    const { isTTY, columns: before } = process.stdout
    Object.assign(process.stdout, { isTTY: width !== undefined, columns: width })
    try {
      printRows(rows, columns, { output, headers })
    } finally {
      Object.assign(process.stdout, { isTTY, columns: before })
      vi.restoreAllMocks()
    }
    return text
  }

  it('prints names, JSON, YAML and tables without a header', () => {
    expect(printed('name').out).toBe('gpu01\nx\n')
    expect(JSON.parse(printed('json').out)).toEqual(rows)
    expect(printed('yaml').out).toBe('- name: gpu01\n  os: Debian\n- name: x\n  os: null\n')
    expect(printed('table', { headers: false }).out).toBe('gpu01  Debian\nx      -\n')
  })

  it('names hidden columns, and hides none with wide', () => {
    expect(printed('table', { width: 8 })).toEqual({
      out: 'NAME\ngpu01\nx\n',
      err: 'Hidden columns: OS. Widen the terminal or use -o wide.\n',
    })
    expect(printed('wide', { width: 8 })).toEqual({ out: 'NAME   OS\ngpu01  Debian\nx      -\n', err: '' })
  })
})

it('uses colors only on a terminal and without NO_COLOR', () => {
  const { isTTY } = process.stdout
  try {
    vi.stubEnv('NO_COLOR', '')
    vi.stubEnv('TERM', 'xterm')
    process.stdout.isTTY = true
    expect(hasColors()).toBe(true)
    vi.stubEnv('NO_COLOR', '1')
    expect(hasColors()).toBe(false)
    vi.stubEnv('NO_COLOR', '')
    process.stdout.isTTY = false
    expect(hasColors()).toBe(false)
  } finally {
    process.stdout.isTTY = isTTY
    vi.unstubAllEnvs()
  }
})

it('formats sizes, ages, durations and addresses', () => {
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

it('quotes names for the shell', () => {
  expect(['jump', 'lab bastion', "o'neil $(id)"].map(shellQuote)).toEqual(['jump', "'lab bastion'", "'o'\\''neil $(id)'"])
})

it('keeps colors for a terminal and removes all other control sequences', () => {
  const text =
    '\u001b[32mok\u001b[0m\t\u001b[2J\u001b]0;title\u0007\u001b]8;;http://x\u001b\\link\u0007\u009b1A\u001bc\u001b(B\u001bPq#0\u001b\\ end'
  expect(plain(text, true)).toBe('\u001b[32mok\u001b[0m\tlink end')
  expect(plain(text, false)).toBe('ok\tlink end')
  expect(plain('\u001b[38:2::255:0:0mred\u001b[m\nnext', false)).toBe('red\nnext')
})

it('escapes control characters in JSON', () => {
  expect(toJson({ os: '\u001b[2J\u009b2J' })).toBe('{"os":"\\u001b[2J\\u009b2J"}')
})
