import { expect, it } from 'vitest'
import { exitCodeOf } from './follow.ts'

it('maps every run status to its exit code', () => {
  const statuses = ['SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELED', 'TIMED_OUT', 'ERROR', 'SOMETHING_NEW']
  expect(statuses.map(exitCodeOf)).toEqual([0, 10, 11, 12, 13, 14, 1])
})
