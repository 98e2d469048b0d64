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

const NODE =
  'node { id name host port status connectionType tags labels { key value } notes displayName updateBlockedReason purgeBlockedReason }'

const addNode = (as: TenantFixture['owner'], more: object = {}) =>
  mutate(api, as, 'addNode', NODE, { name: 'gpu1', host: 'gpu1.example.com', ...more })

test('adds a node with the defaults of omitted fields', async () => {
  const { node } = await addNode(tenant.operator, { port: null, tags: ['a'], labels: [{ key: 'zone', value: 'b' }] })
  expect(node).toMatchObject({
    name: 'gpu1',
    port: 22,
    status: 'NEW',
    connectionType: 'SSH',
    tags: ['a'],
    labels: [{ key: 'zone', value: 'b' }],
    updateBlockedReason: null,
    purgeBlockedReason: expect.stringContaining('admin'),
  })
  expect(await addNode(tenant.operator)).toMatchObject({ __typename: 'ConflictError', message: expect.stringContaining('gpu1') })
})

test('changes only the fields of the input and clears fields set to null', async () => {
  const { node } = await addNode(tenant.operator)
  const update = (fields: object) => mutate(api, tenant.operator, 'updateNode', NODE, { id: node.id, ...fields })
  expect(await update({ notes: 'n', displayName: 'D', port: 2222 })).toMatchObject({
    node: { notes: 'n', displayName: 'D', port: 2222 },
  })
  expect(await update({ displayName: null })).toMatchObject({ node: { notes: 'n', displayName: null } })
  expect(await update({ name: null })).toMatchObject({ __typename: 'InvalidInputError', issues: [{ path: 'name' }] })
})

test('moves a node through maintenance and decommissioning until it is purged', async () => {
  const { node } = await addNode(tenant.operator)
  const change = (name: string, more: object = {}) => mutate(api, tenant.admin, name, NODE, { id: node.id, ...more })
  expect(await change('setNodeMaintenance', { enabled: true })).toMatchObject({ node: { status: 'MAINTENANCE' } })
  expect(await change('setNodeMaintenance', { enabled: false })).toMatchObject({ node: { status: 'NEW' } })
  const purge = () => mutate(api, tenant.admin, 'purgeNode', 'deletedId', { id: node.id })
  expect(await purge()).toMatchObject({
    __typename: 'ConflictError',
    message: expect.stringContaining('decommission it first'),
  })
  expect(await change('decommissionNode')).toMatchObject({ node: { status: 'DECOMMISSIONED', purgeBlockedReason: null } })
  expect(await change('decommissionNode')).toMatchObject({ __typename: 'ConflictError' })
  expect(await change('recommissionNode')).toMatchObject({ node: { status: 'NEW' } })
  await change('decommissionNode')
  expect(await purge()).toEqual({ __typename: 'PurgeNodePayload', deletedId: node.id })
  expect(await change('recommissionNode')).toMatchObject({ __typename: 'NotFoundError' })
})

test.each([
  [{ host: '-oProxyCommand=reboot' }, 'host'],
  [{ host: 'a b' }, 'host'],
  [{ host: 'a;id' }, 'host'],
  [{ host: "a'b" }, 'host'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: '../x' }, 'name'],
  [{ port: 0 }, 'port'],
  [{ port: 65536 }, 'port'],
  [{ sshUser: '-l' }, 'sshUser'],
  [{ sshUser: '$(id)' }, 'sshUser'],
  [{ tags: [''] }, 'tags.0'],
  [
    {
      labels: [
        { key: 'a', value: '1' },
        { key: 'a', value: '2' },
      ],
    },
    'labels.1.key',
  ],
  [{ hostKey: 'ssh-ed25519 AAAA' }, 'hostKey'],
])('rejects a node with %j at its field', async (more, path) => {
  expect(await addNode(tenant.operator, more)).toMatchObject({
    __typename: 'InvalidInputError',
    issues: expect.arrayContaining([expect.objectContaining({ path })]),
  })
})

test('returns Forbidden for the wrong role and NotFound for an ID of another type', async () => {
  expect(await addNode(tenant.viewer)).toMatchObject({
    __typename: 'ForbiddenError',
    message: expect.stringContaining('operator'),
  })
  expect(await addNode(tenant.operator, { connectionType: 'LOCAL' })).toMatchObject({ __typename: 'ForbiddenError' })
  expect(await addNode(tenant.operator, { credentialId: 'nonsense' })).toMatchObject({ __typename: 'NotFoundError' })
  const { id } = await api.given.credential(tenant.admin, 'BECOME')
  expect(await mutate(api, tenant.admin, 'decommissionNode', '', { id: globalId('Credential', id) })).toMatchObject({
    __typename: 'NotFoundError',
  })
})

test('adds one node when three requests add it at the same time', async () => {
  const results = await Promise.all([addNode(tenant.operator), addNode(tenant.admin), addNode(tenant.owner)])
  expect(results.map(({ __typename }) => __typename).sort()).toEqual(['AddNodePayload', 'ConflictError', 'ConflictError'])
})
