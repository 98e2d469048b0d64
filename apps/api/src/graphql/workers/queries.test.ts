import { schema } from '@muster/core/registry'
import { registerWorker } from '@muster/core/workers'
import { sql } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { globalId } from '../shared/ids.ts'

test('a worker can be read again by its ID in every tenant', async () => {
  const t = await testApi()
  onTestFinished(() => t.close())
  const [one, other] = [await t.given.tenant(), await t.given.tenant()]
  const facts = { host: 'h', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 4 }
  for (const name of ['here', 'gone']) await registerWorker(t.runtime, { name, ...facts })
  const WORKER = '__typename id name host concurrency runningCount isGone drainedAt'
  type Workers = { workers: { edges: { node: { id: string; name: string } }[] } }
  const { workers } = await t.ask<Workers>(one.viewer, `{ workers { edges { node { ${WORKER} } } } }`)
  const here = workers.edges.map(({ node }) => node).find(({ name }) => name === 'here')!
  expect(here).toMatchObject({ __typename: 'Worker', concurrency: 4, runningCount: 0, isGone: false, drainedAt: null })
  const read = async (as: typeof one.viewer, id: string) =>
    (await t.ask<{ node: object | null }>(as, `query ($id: ID!) { node(id: $id) { ... on Worker { ${WORKER} } } }`, { id })).node
  for (const { viewer } of [one, other]) expect(await read(viewer, here.id)).toEqual(here)
  await t.runtime.db.update(schema.workers).set({ running: 2, lastSeenAt: sql`now() - interval '1 hour'` })
  expect(await read(one.viewer, here.id)).toEqual({ ...here, runningCount: 2, isGone: true })
  expect(await read(one.viewer, globalId('Worker', crypto.randomUUID()))).toBeNull()
})
