import { addSlurmCluster } from '@muster/core/clusters'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
beforeAll(async () => {
  t = await testApi()
})
afterAll(() => t?.close())

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

test('a client that asks for them gets the codes and values of texts, and others get none', async () => {
  const ours = await t.given.tenant()
  const [node] = await t.given.fleet(ours.operator, { nodes: 1, with: { hostKey: KEY } })
  await addSlurmCluster(ours.admin, { name: 'alps', controllerNodeId: node!.id })
  const headers = { authorization: `Bearer ${await t.tokenOf(ours.admin)}` }
  const query = '{ slurmCluster(name: "alps") { name scaleBlockedReason } }'
  const ask = (more: Record<string, string> = {}) =>
    t.send<{ slurmCluster: { scaleBlockedReason: string } }>({ headers: { ...headers, ...more } }, query) as Promise<{
      data: { slurmCluster: { scaleBlockedReason: string } }
      extensions?: unknown
    }>
  const coded = await ask({ 'x-message-codes': '1' })
  const text = coded.data.slurmCluster.scaleBlockedReason
  expect(text).toMatch(/^The cluster alps is not managed by Muster/)
  expect(coded.extensions).toEqual({ messages: { [text]: { code: 'slurm.notManaged', params: { name: 'alps' } } } })
  expect((await ask()).extensions).toBeUndefined()
})
