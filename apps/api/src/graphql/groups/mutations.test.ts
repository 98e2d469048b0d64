import { addNode } from '@muster/core/nodes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { mutate } from '../../testing/mutate.ts'
import { globalId } from '../shared/ids.ts'

let api: Awaited<ReturnType<typeof testApi>>
beforeAll(async () => {
  api = await testApi()
})
afterAll(() => api?.close())

test('creates, fills and deletes a group', async () => {
  const { operator } = await api.given.tenant()
  const node = await addNode(operator, { name: 'gpu1', host: 'gpu1.example.com' })
  const { nodeGroup } = await mutate(api, operator, 'createNodeGroup', 'nodeGroup { id name priority nodeCount }', {
    name: 'racks',
    priority: 5,
  })
  expect(nodeGroup).toMatchObject({ name: 'racks', priority: 5, nodeCount: 0 })
  expect(await mutate(api, operator, 'createNodeGroup', '', { name: 'racks' })).toMatchObject({ code: 'CONFLICT' })
  expect(await mutate(api, operator, 'createNodeGroup', '', { name: 'a-b' })).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: 'name' }],
  })
  const filled = await mutate(api, operator, 'setNodeGroupMembers', 'nodeGroup { nodeCount nodes { edges { node { name } } } }', {
    id: nodeGroup.id,
    addNodeIds: [globalId('ComputeNode', node.id)],
  })
  expect(filled.nodeGroup).toMatchObject({ nodeCount: 1, nodes: { edges: [{ node: { name: 'gpu1' } }] } })
  expect(await mutate(api, operator, 'deleteNodeGroup', 'deletedId', { id: nodeGroup.id })).toEqual({
    __typename: 'DeleteNodeGroupPayload',
    deletedId: nodeGroup.id,
  })
})

test('returns the first group for a repeated request with the same idempotency key', async () => {
  const { operator } = await api.given.tenant()
  const create = (name: string) =>
    mutate(api, operator, 'createNodeGroup', 'nodeGroup { id }', { name, idempotencyKey: 'rack 12' })
  const { nodeGroup } = await create('rack12')
  expect((await create('rack12')).nodeGroup).toEqual(nodeGroup)
  expect(await create('rack13')).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('rack 12') })
})

test('each mutation of a document returns the state after itself', async () => {
  const { operator } = await api.given.tenant()
  const node = await addNode(operator, { name: 'gpu1', host: 'gpu1.example.com' })
  const nodes = 'nodeGroup { nodes { totalCount edges { node { name } } } }'
  const created = await api.ask<Record<string, { nodeGroup: { id: string } }>>(
    operator,
    `mutation { ${['one', 'two'].map((name) => `${name}: createNodeGroup(input: { name: "${name}" }) { ... on CreateNodeGroupPayload { nodeGroup { id } ${nodes} } }`).join(' ')} }`,
  )
  const id = created.one!.nodeGroup.id
  const nodeId = globalId('ComputeNode', node.id)
  const set = (input: string) =>
    `setNodeGroupMembers(input: { id: "${id}", ${input} }) { ... on SetNodeGroupMembersPayload { ${nodes} } }`
  expect(
    await api.ask(
      operator,
      `mutation { added: ${set(`addNodeIds: ["${nodeId}"]`)} removed: ${set(`removeNodeIds: ["${nodeId}"]`)} }`,
    ),
  ).toEqual({
    added: { nodeGroup: { nodes: { totalCount: 1, edges: [{ node: { name: 'gpu1' } }] } } },
    removed: { nodeGroup: { nodes: { totalCount: 0, edges: [] } } },
  })
})
