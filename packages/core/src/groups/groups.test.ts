import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cast, race, type TestRuntime, testRuntime } from '../testing/index.ts'
import { createNodeGroup, deleteNodeGroup, nodeGroups, setNodeGroupMembers } from './index.ts'

let t: TestRuntime
let cast: Cast
beforeAll(async () => {
  t = await testRuntime()
  cast = await t.given.tenant()
})
afterAll(() => t.close())

const membersOf = async (id: string) =>
  (await t.runtime.db.execute<{ id: string }>(sql`select node_id as id from node_group_members where group_id = ${id}`)).rows
    .map((r) => r.id)
    .sort()

test('createNodeGroup makes a group; of two at once one wins', async () => {
  expect(await createNodeGroup(cast.operator, { name: 'room', priority: 10 })).toMatchObject({ priority: 10, isSystem: false })
  const { won, lost } = await race(
    createNodeGroup(cast.operator, { name: 'twin' }),
    createNodeGroup(cast.operator, { name: 'twin' }),
  )
  expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
})

test.each(['', 'all', 'a-b', 'a b', '1a', 'a;b', 'größe'])('createNodeGroup refuses the name %j', async (name) => {
  await expect(createNodeGroup(cast.operator, { name })).rejects.toMatchObject({ issues: [{ path: 'name' }] })
})

test('setNodeGroupMembers adds, again without effect, and removes', async () => {
  const group = await createNodeGroup(cast.operator, { name: 'members' })
  const ids = (await t.given.fleet(cast.operator, { nodes: 3 })).map((n) => n.id).sort()
  await setNodeGroupMembers(cast.operator, { id: group.id, add: ids })
  await setNodeGroupMembers(cast.operator, { id: group.id, add: ids })
  expect(await membersOf(group.id)).toEqual(ids)
  await setNodeGroupMembers(cast.operator, { id: group.id, remove: [ids[0]!] })
  await setNodeGroupMembers(cast.operator, { id: group.id, remove: [ids[0]!] })
  expect(await membersOf(group.id)).toEqual(ids.slice(1))
  await expect(setNodeGroupMembers(cast.operator, { id: group.id, add: ids, remove: [ids[0]!] })).rejects.toMatchObject({
    issues: [{ path: 'remove' }],
  })
})

test('deleteNodeGroup leaves the nodes, and the groups of Muster itself', async () => {
  const group = await createNodeGroup(cast.operator, { name: 'gone' })
  expect(await deleteNodeGroup(cast.operator, { id: group.id })).toEqual({ id: group.id })
  await expect(deleteNodeGroup(cast.operator, { id: group.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  const [own] = await t.runtime.db
    .insert(nodeGroups)
    .values({ tenantId: cast.tenant.id, name: 'own', isSystem: true })
    .returning()
  await expect(deleteNodeGroup(cast.operator, { id: own!.id })).rejects.toMatchObject({ code: 'CONFLICT' })
})
