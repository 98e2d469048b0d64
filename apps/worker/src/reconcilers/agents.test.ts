import { agents } from '@muster/core/agents'
import { insertAgents, type TestRuntime, testRuntime } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reconcileAgents } from './agents.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

test('marks an agent without recent heartbeats as stale', async () => {
  const { system } = await t.given.tenant()
  await insertAgents(system, 1, { receivedAt: new Date(Date.now() - 200_000) })
  const reconciler = reconcileAgents(t.runtime)
  try {
    await expect.poll(async () => (await t.runtime.db.select().from(agents))[0]!.state).toBe('STALE')
  } finally {
    await reconciler.stop()
  }
  expect((await t.runtime.db.select().from(agents))[0]).toMatchObject({ stateReason: 'missed', offlineSuppressedAt: null })
})
