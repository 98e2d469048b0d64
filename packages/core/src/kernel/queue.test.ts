import { afterAll, beforeAll, expect, test } from 'vitest'
import { discoveryQueue } from '../discoveries/index.ts'
import { queues } from '../registry.ts'
import { jobRunQueue } from '../runs/index.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { createQueue } from './queue.ts'

let world: TestRuntime
beforeAll(async () => {
  world = await testRuntime()
})
afterAll(() => world.close())

test('delivers every entry of a backlog once, also when handlers throw', async () => {
  const entries = Array.from({ length: 100 }, () => ({ id: crypto.randomUUID(), tenantId: crypto.randomUUID() }))
  await world.runtime.db.transaction((tx) => world.runtime.queue.send(tx, jobRunQueue, entries))
  const queue = await createQueue(world.url, world.runtime.log, 'worker', queues)
  const handed: string[] = []
  try {
    await queue.work(jobRunQueue, 2, async ({ id }) => {
      handed.push(id)
      if (handed.length % 3 === 0) throw new Error('no')
    })
    // Waiting for the next poll at each entry would take minutes.
    await expect.poll(() => handed.length).toBe(entries.length)
    expect(handed.toSorted()).toEqual(entries.map((entry) => entry.id).toSorted())
  } finally {
    await queue.close(0)
  }
})

test('a rolled-back transaction triggers no worker', async () => {
  const entry = { id: crypto.randomUUID(), tenantId: crypto.randomUUID() }
  const kept = { id: crypto.randomUUID(), tenantId: crypto.randomUUID() }
  const rolledBack = world.runtime.db.transaction(async (tx) => {
    await world.runtime.queue.send(tx, discoveryQueue, [entry])
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  await world.runtime.db.transaction((tx) => world.runtime.queue.send(tx, discoveryQueue, [kept]))
  const queue = await createQueue(world.url, world.runtime.log, 'worker', queues)
  const handed: string[] = []
  try {
    await queue.work(discoveryQueue, 1, async ({ id }) => void handed.push(id))
    await expect.poll(() => handed.length).toBeGreaterThan(0)
    expect(handed).toEqual([kept.id])
  } finally {
    await queue.close(0)
  }
})
