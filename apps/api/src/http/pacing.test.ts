import { expect, test } from 'vitest'
import { createPacer } from './pacing.ts'

test('slows down only a caller that exceeds limits more often than it may, until it stops', () => {
  let now = 0
  const pacer = createPacer({ free: 3, intervalMs: 100, now: () => now })
  const send = (caller: string, isRejected: boolean) => {
    const waitMs = pacer.enter(caller)
    if (waitMs === 0 && isRejected) pacer.charge(caller)
    return waitMs
  }
  expect(pacer.isActive()).toBe(false)
  for (let i = 0; i < 100; i++) expect(send('good', false)).toBe(0)
  expect(pacer.isActive()).toBe(false)
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
  expect(pacer.isActive()).toBe(false)
})
