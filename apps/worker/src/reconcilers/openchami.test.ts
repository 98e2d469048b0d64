import { alerts } from '@muster/core/alerts'
import { auditEntries } from '@muster/core/audit'
import { assignBootProfile, createBootProfile } from '@muster/core/boot-profiles'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { addNode, updateNode } from '@muster/core/nodes'
import {
  checkOpenchamiTarget,
  claimOpenchamiTarget,
  openchamiTargets,
  removeOpenchamiTarget,
  setOpenchamiTarget,
  targetState,
} from '@muster/core/openchami'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startFakeOpenchami } from '../testing/fake-openchami.ts'
import { reconcileOpenchami } from './openchami.ts'
import type { Reconciler } from './reconcile.ts'

// SMD and BSS are fakes; ../openchami/real-services.long.test.ts has the real ones.

const TOKEN = 'eyJ0.fake.token'
let t: TestRuntime
let ours: TenantFixture
let services: Awaited<ReturnType<typeof startFakeOpenchami>>
let worker: Reconciler
const ids: string[] = []
let groupId: string
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  services = await startFakeOpenchami(TOKEN)
  for (const i of [1, 2])
    ids.push(
      (
        await addNode(ours.admin, {
          ...{ name: `node${i}`, host: `10.0.0.${i}`, xname: `x1000c0s${i}b0n0`, nid: i },
          interfaces: [{ name: 'eth0', mac: `02:00:00:00:00:0${i}`, isBoot: true, addresses: [{ address: `10.0.0.${i}` }] }],
        })
      ).id,
    )
  await addNode(ours.admin, { name: 'without-xname', host: '10.0.0.9' })
  const group = await createNodeGroup(ours.admin, { name: 'row_a', displayName: 'row-a', description: 'Row A' })
  groupId = group.id
  await setNodeGroupMembers(ours.admin, { id: groupId, addNodeIds: ids })
  const profile = await createBootProfile(ours.admin, {
    ...{ name: 'base', kernel: { url: 'http://10.0.0.1/vmlinuz' }, initrds: [{ url: 'http://10.0.0.1/initrd' }] },
    kernelParams: ['quiet', 'console=ttyS0'],
  })
  await assignBootProfile(ours.admin, { profileId: profile.id, nodeIds: [ids[0]!] })
  worker = reconcileOpenchami(t.runtime, 'worker 1', LOOPBACK)
})
afterAll(async () => {
  await worker?.stop()
  await services?.close()
  await t?.close()
})

const read = async () =>
  (await t.runtime.db.select().from(openchamiTargets).where(eq(openchamiTargets.tenantId, ours.tenant.id)))[0]!
/** The target after the requested check. */
const checked = async () => {
  await vi.waitFor(
    async () => {
      worker.trigger()
      expect(await read()).toMatchObject({ requestedAt: null, leasedUntil: null })
    },
    { timeout: 30_000, interval: 50 },
  )
  return read()
}
/** The open alert about the target. */
const alert = async () => {
  const isOpen = and(eq(alerts.tenantId, ours.tenant.id), eq(alerts.kind, 'openchami_out_of_sync'), isNull(alerts.resolvedAt))
  return (await t.runtime.db.select().from(alerts).where(isOpen))[0]
}
const set = (fields: Parameters<typeof setOpenchamiTarget>[1]) => setOpenchamiTarget(ours.admin, fields, LOOPBACK)

it('reports what is missing, and writes nothing in the mode REPORT', async () => {
  await set({ smdUrl: `${services.url}/`, bssUrl: services.url, token: TOKEN })
  const target = await checked()
  expect(targetState(target)).toBe('DRIFT')
  expect(target.differences.map(({ object, state }) => `${state} ${object}`)).toEqual([
    'MISSING boot parameters x1000c0s1b0n0',
    'MISSING component x1000c0s1b0n0',
    'MISSING component x1000c0s2b0n0',
    'MISSING group row-a',
    'MISSING interface 02:00:00:00:00:01',
    'MISSING interface 02:00:00:00:00:02',
  ])
  expect(services.writes).toEqual([])
  expect((await alert())?.evidence).toMatchObject({ differenceCount: 6, objects: expect.arrayContaining(['group row-a']) })
  expect(JSON.stringify(target)).not.toContain(TOKEN)
})

it('pushes on request, and audits it', async () => {
  await checkOpenchamiTarget(ours.admin, { mode: 'PUSH' })
  const target = await checked()
  expect(target).toMatchObject({ mode: 'REPORT', differences: [], driftSince: null, pushedCount: 6, error: null })
  expect(targetState(target)).toBe('IN_SYNC')
  expect(await alert()).toBeUndefined()
  expect(services.boots.get('x1000c0s1b0n0')).toMatchObject({ kernel: 'http://10.0.0.1/vmlinuz', params: 'quiet console=ttyS0' })
  const [entry] = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, ours.tenant.id), eq(auditEntries.action, 'openchami_target.push')))
  expect(entry).toMatchObject({ actorKind: 'worker', details: { count: 6 } })
})

it('finds drift of both sides by field, repairs it in the mode PUSH, and leaves what only SMD has', async () => {
  await updateNode(ours.admin, { id: ids[0]!, nid: 77, nodeType: 'LOGIN' })
  await setNodeGroupMembers(ours.admin, { id: groupId, removeNodeIds: ids })
  services.interfaces.get('020000000002')!.IPAddresses = [{ IPAddress: '10.9.9.9' }]
  services.components.set('x1000c0s9b0n0', { ID: 'x1000c0s9b0n0', NID: 9 })
  await checkOpenchamiTarget(ours.admin, { mode: 'REPORT' })
  expect((await checked()).differences).toEqual([
    {
      ...{ object: 'component x1000c0s1b0n0', state: 'DIFFERENT' },
      fields: [
        { field: 'NID', theirs: 1, ours: 77 },
        { field: 'Role', theirs: 'Compute', ours: 'Application' },
      ],
    },
    { object: 'component x1000c0s9b0n0', state: 'EXTRA', fields: [] },
    {
      ...{ object: 'group row-a', state: 'DIFFERENT' },
      fields: [{ field: 'members', theirs: ['x1000c0s1b0n0', 'x1000c0s2b0n0'], ours: [] }],
    },
    {
      ...{ object: 'interface 02:00:00:00:00:02', state: 'DIFFERENT' },
      fields: [{ field: 'IPAddresses', theirs: ['10.9.9.9'], ours: ['10.0.0.2'] }],
    },
  ])
  await set({ mode: 'PUSH' })
  const target = await checked()
  expect(target).toMatchObject({ pushedCount: 3, driftSince: null, differenceCount: 1 })
  expect(targetState(target)).toBe('IN_SYNC')
})

it('checks again when the interval has passed', async () => {
  services.components.get('x1000c0s2b0n0')!.NID = 5
  await t.runtime.db.update(openchamiTargets).set({ checkedAt: sql`now() - interval '2 hours'` })
  await vi.waitFor(
    async () => {
      worker.trigger()
      expect(services.components.get('x1000c0s2b0n0')!.NID).toBe(2)
    },
    { timeout: 30_000, interval: 50 },
  )
  await checked()
})

it('names the request that failed, counts what was written before it, and continues at the next check', async () => {
  await updateNode(ours.admin, { id: ids[0]!, nid: 78 })
  services.interfaces.get('020000000002')!.IPAddresses = []
  services.state.failsOn = 'PATCH /hsm/v2/Inventory'
  await checkOpenchamiTarget(ours.admin, { mode: 'PUSH' })
  const failed = await checked()
  expect(failed).toMatchObject({ pushedCount: 1, failingSince: expect.any(Date) })
  expect(failed.error).toMatch(/^PATCH http:.*\/EthernetInterfaces\/020000000002 answered 500: query failed$/)
  // One failure may be a restart of the service.
  expect(await alert()).toBeUndefined()
  await checkOpenchamiTarget(ours.admin, { mode: 'PUSH' })
  await checked()
  expect((await alert())?.evidence).toMatchObject({ error: failed.error })
  services.state.failsOn = ''
  await checkOpenchamiTarget(ours.admin, { mode: 'PUSH' })
  expect(await checked()).toMatchObject({ error: null, failingSince: null, driftSince: null, pushedCount: 1 })
  expect(await alert()).toBeUndefined()
})

it('says that a service refuses the token, or cannot be reached', async () => {
  await set({ token: 'a wrong token' })
  expect((await checked()).error).toMatch(/answered 401: token is unauthorized$/)
  await set({ bssUrl: null, smdUrl: 'http://127.0.0.1:1', token: null })
  expect((await checked()).error).toBe('http://127.0.0.1:1 cannot be reached (ECONNREFUSED).')
})

it('refuses local addresses, asks for the token again when a server changes, and only admins set it', async () => {
  await expect(setOpenchamiTarget(ours.admin, { smdUrl: 'http://127.0.0.1:2', token: TOKEN })).rejects.toMatchObject({
    issues: [{ path: 'smdUrl', message: expect.stringContaining('LOCAL_TARGETS') }],
  })
  await set({ token: TOKEN })
  await expect(set({ smdUrl: services.url })).rejects.toMatchObject({ issues: [{ path: 'token' }] })
  await expect(set({ smdUrl: null })).rejects.toMatchObject({ issues: [{ path: 'smdUrl' }] })
  await expect(set({ smdUrl: 'ftp://a' })).rejects.toMatchObject({ issues: [{ path: 'smdUrl' }] })
  await expect(setOpenchamiTarget(ours.operator, { mode: 'PUSH' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const others = await t.given.tenant()
  await expect(checkOpenchamiTarget(others.admin, { mode: 'PUSH' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

it('checks no target that is OFF, unless it is asked to, and none after its removal', async () => {
  await worker.stop()
  await set({ mode: 'OFF' })
  expect(await claimOpenchamiTarget(t.runtime)).toBeNull()
  await checkOpenchamiTarget(ours.admin, { mode: 'REPORT' })
  expect(await claimOpenchamiTarget(t.runtime)).toMatchObject({ mode: 'REPORT' })
  expect(await claimOpenchamiTarget(t.runtime)).toBeNull()
  await removeOpenchamiTarget(ours.admin)
  await expect(removeOpenchamiTarget(ours.admin)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
