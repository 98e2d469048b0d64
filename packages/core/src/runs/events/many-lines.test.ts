import { expect, test } from 'vitest'
import { runManyLines } from '../../testing/many-lines.ts'

const LINES = 10_000

test('a run of 10,000 lines is kept, followed and downloaded whole, in bounded memory', async () => {
  const { growth, ...told } = await runManyLines(LINES)
  expect(told).toEqual({ followed: [LINES, LINES, LINES], downloaded: LINES, isSame: true })
  expect(growth).toBeLessThan(400)
})
