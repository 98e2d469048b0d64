import { assignBootProfile, createBootProfile } from '@muster/core/boot-profiles'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { addNode, computeNodes, updateNode } from '@muster/core/nodes'
import { checkOpenchamiTarget, openchamiTargets, setOpenchamiTarget, targetState } from '@muster/core/openchami'
import { LOOPBACK, type TenantFixture } from '@muster/core/testing'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type HttpServer, serveHttp } from '../../../api/src/http/server.ts'
import { testApi } from '../../../api/src/testing/api.ts'
import { reconcileOpenchami } from '../reconcilers/openchami.ts'
import type { Reconciler } from '../reconcilers/reconcile.ts'

// The endpoints of Muster that are compatible with SMD and BSS, of another tenant, are the target.

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let [ours, theirs] = [] as unknown as [TenantFixture, TenantFixture]
let worker: Reconciler
beforeAll(async () => {
  t = await testApi({ openchami: { publicTenant: null } })
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  worker = reconcileOpenchami(t.runtime, 'worker 1', LOOPBACK)
})
afterAll(async () => {
  await worker?.stop()
  await server?.stop()
  await t?.close()
})

const push = async () => {
  await checkOpenchamiTarget(ours.admin, { mode: 'PUSH' })
  const isOurs = eq(openchamiTargets.tenantId, ours.tenant.id)
  return vi.waitFor(
    async () => {
      worker.trigger()
      const [target] = await t.runtime.db.select().from(openchamiTargets).where(isOurs)
      expect(target).toMatchObject({ requestedAt: null, leasedUntil: null })
      return target!
    },
    { timeout: 30_000, interval: 50 },
  )
}

it('pushes nodes, interfaces, groups and boot parameters until nothing differs, and their changes', async () => {
  const ids: string[] = []
  for (const i of [1, 2]) {
    const { id } = await addNode(ours.admin, {
      ...{ name: `node${i}`, host: `10.0.0.${i}`, xname: `x1000c0s${i}b0n0`, nid: i },
      interfaces: [
        { name: 'eth0', mac: `02:00:00:00:00:0${i}`, isBoot: true, addresses: [{ address: `10.0.0.${i}` }] },
        { name: 'ib0', mac: `80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:0${i}` },
      ],
    })
    ids.push(id)
  }
  const group = await createNodeGroup(ours.admin, { name: 'row_a', displayName: 'row-a', description: 'Row A' })
  await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: ids })
  const profile = await createBootProfile(ours.admin, {
    ...{ name: 'base', kernel: { url: 'http://10.0.0.1/vmlinuz' }, initrds: [{ url: 'http://10.0.0.1/initrd' }] },
    kernelParams: ['quiet', 'console=ttyS0'],
  })
  await assignBootProfile(ours.admin, { profileId: profile.id, nodeIds: [ids[0]!] })
  const url = `http://127.0.0.1:${server.port}`
  await setOpenchamiTarget(ours.admin, { smdUrl: url, bssUrl: url, token: await t.tokenOf(theirs.admin) }, LOOPBACK)
  const first = await push()
  expect(first).toMatchObject({ error: null, differences: [], pushedCount: 6 })
  expect(targetState(first)).toBe('IN_SYNC')
  const pushed = await theirs.admin.db
    .select({ xname: computeNodes.xname, nid: computeNodes.nid })
    .from(computeNodes)
    .where(eq(computeNodes.tenantId, theirs.tenant.id))
    .orderBy(computeNodes.nid)
  expect(pushed).toEqual([1, 2].map((i) => ({ xname: `x1000c0s${i}b0n0`, nid: i })))

  await updateNode(ours.admin, { id: ids[0]!, nid: 77, nodeType: 'LOGIN' })
  await setNodeGroupMembers(ours.admin, { id: group.id, removeNodeIds: [ids[1]!] })
  expect(await push()).toMatchObject({ error: null, differences: [], pushedCount: 2 })
  const isMoved = and(eq(computeNodes.tenantId, theirs.tenant.id), eq(computeNodes.nid, 77))
  expect(await theirs.admin.db.select({ nodeType: computeNodes.nodeType }).from(computeNodes).where(isMoved)).toEqual([
    { nodeType: 'LOGIN' },
  ])
})
