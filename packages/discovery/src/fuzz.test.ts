import { expect, it } from 'vitest'
import { defineFuzzTests, parseAll, REPETITIVE_TEXTS } from '../test/fuzz.ts'

defineFuzzTests(60)

// Inputs that trigger quadratic regular expressions. The time limit of the test is the assertion.
it.each(REPETITIVE_TEXTS)('parses repeated $name quickly', ({ text }) => {
  expect(parseAll(text)).toEqual(expect.anything())
})
