import { beforeAll, describe, expect, test, vi } from 'vitest'
import { plain, spansOf, visibleLength } from './ansi.ts'
import { LogLayout } from './log-layout.ts'
import { type LogEvent, LogStore } from './log-store.ts'

beforeAll(() => void vi.stubGlobal('requestAnimationFrame', (callback: () => void) => setTimeout(callback)))

function event(seq: number, startLine: number, stdout: string | null, host: string | null = null): LogEvent {
  const lineCount = stdout === null ? 0 : stdout.split('\n').length
  return {
    seq,
    kind: 'ok',
    host,
    play: null,
    task: host && 'Probe',
    action: null,
    isChanged: null,
    durationMs: null,
    stdout,
    startLine,
    lineCount,
    createdAt: '2026-01-01T00:00:00Z',
  }
}

describe('the store', () => {
  test('returns each line by number, however batches split the output', () => {
    const store = new LogStore()
    store.append([
      event(1, 1, '\nPLAY [all]'),
      event(2, 3, null),
      event(3, 3, 'ok: [a]', 'a'),
      event(4, 4, 'fatal: [b]\n  why\n', 'b'),
    ])
    expect(store.lineCount).toBe(6)
    expect([1, 2, 3, 4, 5, 6].map((line) => store.line(line))).toEqual(['', 'PLAY [all]', 'ok: [a]', 'fatal: [b]', '  why', ''])
    expect([2, 3, 5].map((line) => store.host(line))).toEqual([null, 'a', 'b'])
    expect(store.tasks.map((task) => task.line)).toEqual([3, 4])
  })

  test('ignores a repeated batch', () => {
    const store = new LogStore()
    const batch = [event(1, 1, 'one'), event(2, 2, 'two', 'a')]
    store.append(batch)
    store.append([...batch, event(3, 3, 'three')])
    expect(store.lastSeq).toBe(3)
    expect(store.lineCount).toBe(3)
    expect(store.textCount).toBe(3)
    expect(store.tasks).toHaveLength(1)
  })

  test('holds a million lines and finds any of them', () => {
    const store = new LogStore()
    for (let batch = 0; batch < 200; batch++)
      store.append(
        Array.from({ length: 5000 }, (_, index) =>
          event(batch * 5000 + index + 1, batch * 5000 + index + 1, `line ${batch * 5000 + index + 1}`),
        ),
      )
    expect(store.lineCount).toBe(1_000_000)
    for (const line of [1, 4097, 500_000, 1_000_000]) expect(store.line(line)).toBe(`line ${line}`)
  })
})

describe('the layout', () => {
  const widths = (line: number) => [10, 0, 25, 5][line % 4] as number
  test('matches a row-by-row count with and without wrapping while it grows', () => {
    for (const columns of [null, 10]) {
      const layout = new LogLayout((index) => index + 1, widths, columns)
      let row = 0
      for (const count of [3, 700, 1500]) layout.extend(count)
      for (let index = 0; index < 1500; index++) {
        expect(layout.rowAt(index)).toBe(row)
        expect(layout.indexAt(row)).toBe(index)
        row += layout.rowsOf(index)
        expect(layout.indexAt(row - 1)).toBe(index)
      }
      expect(layout.totalRows).toBe(row)
    }
  })
})

describe('colors', () => {
  const spans = (line: string) => spansOf(line).map(({ text, ...style }) => [text, style])
  test('basic colors and decorations are classes, others are CSS colors', () => {
    expect(spans('\x1b[0;32mok: [a]\x1b[0m')).toEqual([['ok: [a]', { className: 'ansi-green-fg' }]])
    expect(spans('a\x1b[1;4;91;44mb\x1b[22;39mc\x1b[md')).toEqual([
      ['a', { className: '' }],
      ['b', { className: 'font-bold underline ansi-bright-red-fg ansi-blue-bg' }],
      ['c', { className: 'underline ansi-blue-bg' }],
      ['d', { className: '' }],
    ])
    expect(spans('\x1b[38;5;196ma\x1b[48;2;1;2;3mb\x1b[38;5;244mc\x1b[38;5;9;49md')).toEqual([
      ['a', { className: '', color: 'rgb(255 0 0)' }],
      ['b', { className: '', color: 'rgb(255 0 0)', background: 'rgb(1 2 3)' }],
      ['c', { className: '', color: 'rgb(128 128 128)', background: 'rgb(1 2 3)' }],
      ['d', { className: 'ansi-bright-red-fg' }],
    ])
    expect(spans('\x1b[38;5;999;99ma\x1b[38;2;1mb')).toEqual([
      ['a', { className: '' }],
      ['b', { className: '' }],
    ])
  })

  test('text is never markup, and other control sequences are removed', () => {
    expect(spans('<img src=x onerror=alert(1)> & "q"')).toEqual([['<img src=x onerror=alert(1)> & "q"', { className: '' }]])
    expect(spans('\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07')).toEqual([['click', { className: '' }]])
    expect(spans('bell \x07 back \x08\x1b[2J\x1b[31mred\x1b[K\x07')).toEqual([
      ['bell  back ', { className: '' }],
      ['red', { className: 'ansi-red-fg' }],
    ])
  })

  test('have no width; wide characters have two columns', () => {
    expect(visibleLength('\x1b[0;32mok\x1b[0m')).toBe(2)
    expect(visibleLength('节点')).toBe(4)
    expect(plain('\x1b[1;31mred\x1b[0m\r')).toBe('red')
  })
})
