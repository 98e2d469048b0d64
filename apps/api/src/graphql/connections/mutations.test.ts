import { recordOfferedHostKey } from '@muster/core/connections'
import { addNode } from '@muster/core/nodes'
import { makeHostKey, type TenantFixture } from '@muster/core/testing'
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

test('approves the offered host key and no other', async () => {
  const node = await addNode(tenant.operator, { name: 'gpu1', host: 'gpu1.example.com' })
  await recordOfferedHostKey(tenant.worker, { objectType: 'ComputeNode', objectId: node.id, key: makeHostKey() })
  const { computeNode } = await api.ask<{ computeNode: { hostKeyAlarm: { offeredFingerprint: string } } }>(
    tenant.viewer,
    '{ computeNode(name: "gpu1") { hostKeyAlarm { offeredFingerprint approvedFingerprint isChanged } } }',
  )
  expect(computeNode.hostKeyAlarm).toMatchObject({ approvedFingerprint: null, isChanged: false })
  const { offeredFingerprint } = computeNode.hostKeyAlarm
  const approve = (fingerprint: string) =>
    mutate(api, tenant.admin, 'approveHostKeys', 'nodes { hostKeyFingerprint hostKeyAlarm { isChanged } } credentials { id }', {
      approvals: [{ id: globalId('ComputeNode', node.id), fingerprint }],
    })
  expect(await approve(`SHA256:${'A'.repeat(43)}`)).toMatchObject({ __typename: 'ConflictError' })
  expect(await approve('nonsense')).toMatchObject({ __typename: 'InvalidInputError' })
  expect(await approve(offeredFingerprint)).toMatchObject({
    nodes: [{ hostKeyFingerprint: offeredFingerprint, hostKeyAlarm: null }],
    credentials: [],
  })
})

test('starts a connection test for each node', async () => {
  const [node] = await api.given.fleet(tenant.operator, { nodes: 1 })
  const start = (nodeIds: string[]) =>
    mutate(api, tenant.operator, 'testConnections', 'connectionTests { isOk stages { stage } node { name } }', { nodeIds })
  expect(await start([globalId('ComputeNode', node!.id)])).toMatchObject({
    connectionTests: [{ isOk: null, stages: [], node: { name: node!.name } }],
  })
  expect(await start([])).toMatchObject({ __typename: 'InvalidInputError' })
})
