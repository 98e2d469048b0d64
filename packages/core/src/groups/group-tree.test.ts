import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { groupsOfNodes } from './group-tree.ts'
import { nodeGroupMembers, nodeGroups } from './tables.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

test('sorts groups nearest last: by depth, then lower number, then name', async () => {
  const { operator, tenant } = await t.given.tenant()
  const [node, alone] = await t.given.fleet(operator, { nodes: 2 })
  const make = async (name: string, parentId: string | null = null, priority = 100) => {
    const [group] = await t.runtime.db.insert(nodeGroups).values({ tenantId: tenant.id, name, parentId, priority }).returning()
    return group!.id
  }
  const site = await make('site', null, 1)
  const room = await make('room', site, 900)
  await make('elsewhere', site)
  const groupIds = [await make('rack', room, 900), await make('b'), await make('a'), await make('first', null, 5)]
  await t.runtime.db.insert(nodeGroupMembers).values(groupIds.map((groupId) => ({ groupId, nodeId: node!.id })))
  const groups = await groupsOfNodes(t.runtime.db, operator, [node!.id, alone!.id])
  expect(groups.get(node!.id)!.map((group) => group.name)).toEqual(['b', 'a', 'first', 'site', 'room', 'rack'])
  expect(groups.get(alone!.id)).toEqual([])
})
