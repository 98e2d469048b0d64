import { expect, test } from 'vitest'
import { tryHostilePaths } from '../../testing/hostile-paths.ts'

test('of 100,000 hostile paths none leads out', { timeout: 900_000 }, async () => {
  const { outside, taken } = await tryHostilePaths(100_000, 2)
  expect(outside).toBe(0)
  expect(taken).toBeGreaterThan(1000)
})
