import { addNode } from '@muster/core/nodes'
import type { TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { mutate } from '../../testing/mutate.ts'
import { globalId } from '../shared/ids.ts'

let api: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  api = await testApi()
})
beforeEach(async () => {
  tenant = await api.given.tenant()
})
afterAll(() => api?.close())

const discover = (nodeIds: string[]) =>
  mutate(
    api,
    tenant.operator,
    'discoverNodes',
    'discoveries { reason status tools { tool } node { latestDiscovery { status } } }',
    { nodeIds: nodeIds.map((id) => globalId('ComputeNode', id)) },
  )

test('starts a discovery of each node', async () => {
  const [node] = await api.given.fleet(tenant.operator, { nodes: 1 })
  expect(await discover([node!.id])).toMatchObject({
    discoveries: [{ reason: 'REFRESH', status: 'PENDING', tools: [], node: { latestDiscovery: { status: 'PENDING' } } }],
  })
})

test('rejects a node without an approved host key', async () => {
  const node = await addNode(tenant.operator, { name: 'gpu1', host: 'gpu1.example.com' })
  expect(await discover([node.id])).toMatchObject({ __typename: 'ConflictError', message: expect.stringContaining('host key') })
})
