import { expect, test } from 'vitest'
import { tryHostilePaths } from '../../testing/hostile-paths.ts'

test('of 1,000 hostile paths none leads out', async () => {
  const { outside, taken } = await tryHostilePaths(1000)
  expect(outside).toBe(0)
  // Harmless ones are among them, or nothing would have been tried.
  expect(taken).toBeGreaterThan(10)
})
