import { FAULT_TIMEOUT, scaleIterations } from '@muster/core/testing'
import { expect, test } from 'vitest'
import { tryMaliciousPaths } from '../../testing/malicious/paths.ts'

const PATHS = scaleIterations(100_000)

test(`none of ${PATHS} malicious paths escapes`, { timeout: FAULT_TIMEOUT }, async () => {
  const { outside, accepted } = await tryMaliciousPaths(PATHS)
  expect(outside).toBe(0)
  // Some paths are harmless; otherwise nothing would have been tested.
  expect(accepted).toBeGreaterThan(PATHS / 100)
})
