import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { updateNode } from '../nodes/index.ts'
import { selectNodes } from '../selection/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { createNodeGroup } from './create-node-group.ts'
import { deleteNodeGroup } from './delete-node-group.ts'
import { groupsOfNodes } from './group-tree.ts'
import { setNodeGroupMembers } from './set-node-group-members.ts'
import { nodeGroupMembers } from './tables.ts'
import { updateNodeGroup } from './update-node-group.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t.close())

const membersOf = async (id: string) =>
  (await t.runtime.db.execute<{ id: string }>(sql`select node_id as id from node_group_members where group_id = ${id}`)).rows
    .map((r) => r.id)
    .sort()

test('createNodeGroup creates a group; of concurrent calls with one name, one wins', async () => {
  expect(await createNodeGroup(ours.operator, { name: 'room', priority: 10 })).toMatchObject({ priority: 10, isSystem: false })
  const { won, lost } = await race(
    createNodeGroup(ours.operator, { name: 'twin' }),
    createNodeGroup(ours.operator, { name: 'twin' }),
  )
  expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
})

test.each(['', 'all', 'a-b', 'a b', '1a', 'a;b', 'größe'])('createNodeGroup rejects the name %j', async (name) => {
  await expect(createNodeGroup(ours.operator, { name })).rejects.toMatchObject({ issues: [{ path: 'name' }] })
})

test('setNodeGroupMembers adds and removes; a repeated call has no effect', async () => {
  const group = await createNodeGroup(ours.operator, { name: 'members' })
  const ids = (await t.given.fleet(ours.operator, { nodes: 3 })).map((n) => n.id).sort()
  await setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: ids })
  await setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: ids })
  expect(await membersOf(group.id)).toEqual(ids)
  await setNodeGroupMembers(ours.operator, { id: group.id, removeNodeIds: [ids[0]!] })
  await setNodeGroupMembers(ours.operator, { id: group.id, removeNodeIds: [ids[0]!] })
  expect(await membersOf(group.id)).toEqual(ids.slice(1))
  await expect(
    setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: ids, removeNodeIds: [ids[0]!] }),
  ).rejects.toMatchObject({
    issues: [{ path: 'removeNodeIds' }],
  })
})

test('deleteNodeGroup keeps the nodes', async () => {
  const group = await createNodeGroup(ours.operator, { name: 'gone' })
  expect(await deleteNodeGroup(ours.operator, { id: group.id })).toEqual({ id: group.id })
  await expect(deleteNodeGroup(ours.operator, { id: group.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('a system group cannot be renamed or deleted; only admins set and clear this', async () => {
  await expect(createNodeGroup(ours.operator, { name: 'base', isSystem: true })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const group = await createNodeGroup(ours.admin, { name: 'base', isSystem: true })
  expect(group.isSystem).toBe(true)
  await expect(updateNodeGroup(ours.admin, { id: group.id, name: 'mine' })).rejects.toThrow(/cannot be renamed/)
  await expect(deleteNodeGroup(ours.admin, { id: group.id })).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await updateNodeGroup(ours.operator, { id: group.id, name: 'base', priority: 7 })).toMatchObject({ priority: 7 })
  await expect(updateNodeGroup(ours.operator, { id: group.id, isSystem: false })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await updateNodeGroup(ours.admin, { id: group.id, isSystem: false })).toMatchObject({ isSystem: false })
  expect(await deleteNodeGroup(ours.operator, { id: group.id })).toEqual({ id: group.id })
})

const rejectedAt = (path: string, message: RegExp) => ({ issues: [{ path, message: expect.stringMatching(message) }] })
const namesIn = async (limit: string) => (await selectNodes(ours.operator, limit)).map((node) => node.name)

test('updateNodeGroup changes given fields and clears on null', async () => {
  const parent = await createNodeGroup(ours.operator, { name: 'above' })
  const group = await createNodeGroup(ours.operator, { name: 'old', displayName: 'Old', parentId: parent.id, priority: 5 })
  const changed = await updateNodeGroup(ours.operator, { id: group.id, name: 'new', displayName: null, priority: null })
  expect(changed).toMatchObject({ name: 'new', displayName: null, priority: 100, parentId: parent.id })
  await expect(updateNodeGroup(ours.operator, { id: group.id, name: 'above' })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(updateNodeGroup(ours.viewer, { id: group.id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('rejects cycles, deep nesting and deletion of a parent', async () => {
  const [node] = await t.given.fleet(ours.operator, { prefix: 'deep' })
  const ids: string[] = []
  for (let i = 1; i <= 8; i++)
    ids.push((await createNodeGroup(ours.operator, { name: `level${i}`, parentId: ids.at(-1) ?? null })).id)
  await expect(createNodeGroup(ours.operator, { name: 'level9', parentId: ids[7]! })).rejects.toMatchObject(
    rejectedAt('parentId', /at most 8 deep/),
  )
  await expect(updateNodeGroup(ours.operator, { id: ids[0]!, parentId: ids[7]! })).rejects.toMatchObject(
    rejectedAt('parentId', /level8 is below level1; this would create a cycle/),
  )
  const top = await createNodeGroup(ours.operator, { name: 'level0' })
  await expect(updateNodeGroup(ours.operator, { id: ids[0]!, parentId: top.id })).rejects.toMatchObject(
    rejectedAt('parentId', /at most 8 deep/),
  )
  await expect(deleteNodeGroup(ours.operator, { id: ids[6]! })).rejects.toThrow(/The group level7 has the child groups level8/)
  await setNodeGroupMembers(ours.operator, { id: ids[7]!, addNodeIds: [node!.id] })
  expect(await namesIn('@level3')).toEqual([node!.name])
  const { won, lost } = await race(
    updateNodeGroup(ours.operator, { id: top.id, parentId: ids[1]! }),
    updateNodeGroup(ours.operator, { id: ids[0]!, parentId: top.id }),
  )
  expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['InvalidInput']])
})

test('membership by query changes with the nodes', async () => {
  const [node, other] = await t.given.fleet(ours.operator, { nodes: 2, prefix: 'dyn', with: { tags: ['dynamic'] } })
  const above = await createNodeGroup(ours.operator, { name: 'above_dynamic' })
  const group = await createNodeGroup(ours.operator, {
    name: 'dynamic',
    parentId: above.id,
    memberQuery: 'tag = dynamic and name ~ dyn',
  })
  await createNodeGroup(ours.operator, { name: 'also_dynamic', memberQuery: 'name = dyn002', priority: 1 })
  const groups = await groupsOfNodes(t.runtime.db, ours.operator, [node!.id, other!.id])
  expect([...groups.values()].map((some) => some.map((each) => each.name))).toEqual([
    ['above_dynamic', 'dynamic'],
    ['above_dynamic', 'also_dynamic', 'dynamic'],
  ])
  await updateNode(ours.operator, { id: node!.id, tags: [] })
  expect(await namesIn('@above_dynamic')).toEqual([other!.name])
  await expect(setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: [node!.id] })).rejects.toThrow(/has a member query/)
  await expect(updateNodeGroup(ours.operator, { id: group.id, memberQuery: 'group = room' })).rejects.toMatchObject(
    rejectedAt('memberQuery', /at character 1, "group": the query of a group cannot refer to groups/),
  )
  await updateNodeGroup(ours.operator, { id: group.id, memberQuery: null })
  await setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: [node!.id] })
  expect(await namesIn('@dynamic')).toEqual([node!.name])
  await expect(updateNodeGroup(ours.operator, { id: group.id, memberQuery: 'tag = x' })).rejects.toMatchObject(
    rejectedAt('memberQuery', /has 1 explicit members/),
  )
})

test('a node is in at most one group of an exclusive set', async () => {
  const nodes = await t.given.fleet(ours.operator, { nodes: 3, prefix: 'set' })
  const [a, b, c] = nodes.map((node) => node.id) as [string, string, string]
  const rack = (name: string) => createNodeGroup(ours.operator, { name, exclusiveSet: 'rack' })
  const [one, two, free] = [await rack('rack1'), await rack('rack2'), await createNodeGroup(ours.operator, { name: 'free' })]
  await setNodeGroupMembers(ours.operator, { id: one.id, addNodeIds: [a] })
  await setNodeGroupMembers(ours.operator, { id: one.id, addNodeIds: [a] })
  await expect(setNodeGroupMembers(ours.operator, { id: two.id, addNodeIds: [b, a] })).rejects.toMatchObject(
    rejectedAt('addNodeIds.1', /set001 is in rack1, which is in the exclusive set rack too/),
  )
  await setNodeGroupMembers(ours.operator, { id: free.id, addNodeIds: [a, b] })
  await expect(updateNodeGroup(ours.operator, { id: free.id, exclusiveSet: 'rack' })).rejects.toMatchObject(
    rejectedAt('exclusiveSet', /1 of its nodes are in other groups of the exclusive set rack: set001 in rack1/),
  )
  await updateNodeGroup(ours.operator, { id: free.id, exclusiveSet: 'other' })
  await expect(updateNodeGroup(ours.operator, { id: free.id, memberQuery: 'tag = a' })).rejects.toMatchObject({
    issues: [{ path: 'exclusiveSet' }],
  })
  await expect(createNodeGroup(ours.operator, { name: 'below_rack', parentId: one.id })).rejects.toMatchObject(
    rejectedAt('parentId', /cannot have child groups/),
  )
  // The database enforces it without the verbs.
  const byHand = { groupId: two.id, nodeId: a }
  await expect(t.runtime.db.insert(nodeGroupMembers).values({ ...byHand, exclusiveSet: 'rack' })).rejects.toThrow()
  await expect(t.runtime.db.insert(nodeGroupMembers).values(byHand)).rejects.toThrow()
  for (let i = 0; i < 10; i++) {
    const { won, lost } = await race(
      setNodeGroupMembers(ours.operator, { id: one.id, addNodeIds: [b, c] }),
      setNodeGroupMembers(ours.operator, { id: two.id, addNodeIds: [c, b] }),
    )
    expect(won).toHaveLength(1)
    expect(lost[0]).toMatchObject({ code: expect.stringMatching(/CONFLICT|INVALID_INPUT/) })
    await setNodeGroupMembers(ours.operator, { id: won[0]!.id, removeNodeIds: [b, c] })
  }
})
