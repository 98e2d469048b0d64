import { expect, it } from 'vitest'
import { fuzz, HOSTILE, readAll } from '../test/fuzz.ts'

fuzz(60)

// Shapes that make careless regular expressions walk for minutes; the time limit of a test is the assertion.
it.each(HOSTILE)('$name costs little', ({ text }) => {
  expect(readAll(text)).toEqual(expect.anything())
})
