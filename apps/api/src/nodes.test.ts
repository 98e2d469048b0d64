import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
beforeAll(async () => {
  t = await testApi()
})
afterAll(() => t?.close())

test('lists nodes with accelerators and groups', async () => {
  const { operator } = await t.given.tenant()
  await t.given.fleet(operator, { nodes: 3, accelerators: 2 })
  const data = await t.ask(
    operator,
    '{ viewer { name kind tenantName } nodes(first: 2) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id name status acceleratorSummary { model count worstHealth } accelerators { model index memoryTotal } groups { name } runs { totalCount edges { node { id } } } latestDiscovery { id } discoveries { totalCount edges { node { id } } } } } } nodeFacets { statuses { value count } models { value count } } }',
  )
  expect(data).toBeTruthy()
})
