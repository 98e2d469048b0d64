import { agents } from '@muster/core/agents'
import { eventually, plantAgents, type TestRuntime, testRuntime } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconcileAgents } from './agents.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

test('the worker calls agents what their silence makes them', async () => {
  const { system } = await t.given.tenant()
  await plantAgents(system, 1, { heardAt: new Date(Date.now() - 200_000) })
  const reconciler = reconcileAgents(t.runtime)
  try {
    await eventually(async () => (await t.runtime.db.select().from(agents))[0]!.state === 'STALE')
  } finally {
    await reconciler.stop()
  }
  expect((await t.runtime.db.select().from(agents))[0]).toMatchObject({ stateReason: 'missed', heldAt: null })
})
