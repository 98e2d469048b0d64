import { expect, it } from 'vitest'
import { exitCodeOf, plain } from './follow.ts'

it('keeps colors for a terminal and removes all other control sequences', () => {
  const text =
    '\u001b[32mok\u001b[0m\t\u001b[2J\u001b]0;title\u0007\u001b]8;;http://x\u001b\\link\u0007\u009b1A\u001bc\u001b(B\u001bPq#0\u001b\\ end'
  expect(plain(text, true)).toBe('\u001b[32mok\u001b[0m\tlink end')
  expect(plain(text, false)).toBe('ok\tlink end')
  expect(plain('\u001b[38:2::255:0:0mred\u001b[m\nnext', false)).toBe('red\nnext')
})

it('maps every run status to its exit code', () => {
  const statuses = ['SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELED', 'TIMED_OUT', 'ERROR', 'SOMETHING_NEW']
  expect(statuses.map(exitCodeOf)).toEqual([0, 10, 11, 12, 13, 14, 1])
})
