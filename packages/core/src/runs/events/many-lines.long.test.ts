import { expect, test } from 'vitest'
import { runManyLines } from '../../testing/many-lines.ts'

const LINES = 1_000_000

test('a run of 1,000,000 lines is stored, followed and downloaded completely, in bounded memory', {
  timeout: 1_800_000,
}, async () => {
  const { growth, ...result } = await runManyLines(LINES)
  expect(result).toEqual({ followed: [LINES, LINES, LINES], downloaded: LINES, isSame: true })
  expect(growth).toBeLessThan(400)
})
