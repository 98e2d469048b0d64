import { expect, test } from 'vitest'
import { createQueueOfRejected } from './pacing.ts'

test('slows down only a caller that exceeds limits more often than it may, until it stops', () => {
  let now = 0
  const queue = createQueueOfRejected({ free: 3, intervalMs: 100, now: () => now })
  const send = (caller: string, isRejected: boolean) => {
    const waitMs = queue.enter(caller)
    if (waitMs === 0 && isRejected) queue.charge(caller)
    return waitMs
  }
  expect(queue.isActive()).toBe(false)
  for (let i = 0; i < 100; i++) expect(send('good', false)).toBe(0)
  expect(queue.isActive()).toBe(false)
  expect([1, 2, 3, 4].map(() => send('bad', true))).toEqual([0, 0, 0, 0])
  // All its requests follow one another.
  expect([true, false, true].map((isRejected) => send('bad', isRejected))).toEqual([100, 200, 300])
  expect(send('good', false)).toBe(0)
  // One that would wait too long is rejected, and adds nothing.
  for (let i = 0; i < 100; i++) send('bad', true)
  expect(send('bad', true)).toBeNull()
  now = 5200
  expect(send('bad', true)).toBe(0)
  now = 10_000
  expect(queue.isActive()).toBe(false)
})
