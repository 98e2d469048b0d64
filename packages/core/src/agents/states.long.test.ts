import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestRuntime, testRuntime } from '../testing/index.ts'
import { judgeLossPatterns } from '../testing/loss-patterns.ts'
import { updateAgentSettings } from './index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

test('every pattern of 1 to 12 lost heartbeats', { timeout: 1_800_000 }, async () => {
  const { admin, system } = await t.given.tenant()
  // Half of them are silent at once by design; none of it is a fault of ours.
  await updateAgentSettings(admin, { massSilencePercent: 100 })
  expect(await judgeLossPatterns(system, 12)).toEqual({ judged: 4096 * 3 * 12, wrong: [] })
})
