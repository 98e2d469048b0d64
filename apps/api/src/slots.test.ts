import { expect, test } from 'vitest'
import { createSlots } from './slots.ts'

test('a caller has at most so many slots, and others have their own', () => {
  const slots = createSlots(2)
  const first = slots.take('a')!
  expect(slots.take('a')).not.toBeNull()
  expect(slots.take('a')).toBeNull()
  expect(slots.take('b')).not.toBeNull()
  first()
  first()
  expect(slots.take('a')).not.toBeNull()
  expect(slots.take('a')).toBeNull()
})
