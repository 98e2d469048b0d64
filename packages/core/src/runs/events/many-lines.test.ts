import { expect, test } from 'vitest'
import { runManyLines } from '../../testing/many-lines.ts'

const LINES = 10_000

test('a run of 10,000 lines is stored, followed and downloaded completely, in bounded memory', async () => {
  const { growth, ...result } = await runManyLines(LINES)
  expect(result).toEqual({ followed: [LINES, LINES, LINES], downloaded: LINES, isSame: true })
  expect(growth).toBeLessThan(400)
})
