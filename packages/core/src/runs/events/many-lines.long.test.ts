import { expect, test } from 'vitest'
import { runManyLines } from '../../testing/many-lines.ts'

const LINES = 1_000_000

test('a run of 1,000,000 lines is kept, followed and downloaded whole, in bounded memory', { timeout: 1_800_000 }, async () => {
  const { growth, ...told } = await runManyLines(LINES)
  expect(told).toEqual({ followed: [LINES, LINES, LINES], downloaded: LINES, isSame: true })
  expect(growth).toBeLessThan(400)
})
