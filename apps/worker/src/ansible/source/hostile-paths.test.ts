import { FAULT_TIMEOUT, often } from '@muster/core/testing'
import { expect, test } from 'vitest'
import { tryHostilePaths } from '../../testing/hostile-paths.ts'

const PATHS = often(100_000)

test(`of ${PATHS} hostile paths none leads out`, { timeout: FAULT_TIMEOUT }, async () => {
  const { outside, taken } = await tryHostilePaths(PATHS)
  expect(outside).toBe(0)
  // Harmless ones are among them, or nothing would have been tried.
  expect(taken).toBeGreaterThan(PATHS / 100)
})
