import { expect, test } from 'vitest'
import { batchesOf, Serial } from './serial.ts'

test.each([
  [2, '2', [2]],
  ['30%', '30%', ['30%']],
  [[1, 5, '20%'], '1,5,20%', [1, 5, '20%']],
  ['[1, 5, "20%"]', '1,5,20%', [1, 5, '20%']],
  [' 1, 100% ', '1,100%', [1, '100%']],
])('%j is %s', (given, text, batches) => {
  expect(Serial.parse(given)).toBe(text)
  expect(batchesOf(text)).toEqual(batches)
})

test.each([0, -1, 1.5, '', '0%', '101%', '5 %', '1,,2', [], [[1]], '{{ x }}', null])('%j is rejected', (given) => {
  expect(Serial.safeParse(given).success).toBe(false)
})
