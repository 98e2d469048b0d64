import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkLossPatterns } from '../testing/loss-patterns.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { updateAgentSettings } from './update-agent-settings.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

test('every pattern of 1 to 12 lost heartbeats leads to the expected states', { timeout: 1_800_000 }, async () => {
  const { admin, system } = await t.given.tenant()
  // Half of the agents are silent at once, which must not count as a mass outage.
  await updateAgentSettings(admin, { massOutagePercent: 100 })
  expect(await checkLossPatterns(t.runtime, system, 12)).toEqual({ checked: 4096 * 3 * 12, wrong: [] })
})
