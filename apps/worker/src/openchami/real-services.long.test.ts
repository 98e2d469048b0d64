import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import path from 'node:path'
import { assignBootProfile, createBootProfile } from '@muster/core/boot-profiles'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { addNode, updateNode } from '@muster/core/nodes'
import { checkOpenchamiTarget, openchamiTargets, setOpenchamiTarget } from '@muster/core/openchami'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { reconcileOpenchami } from '../reconcilers/openchami.ts'
import type { Reconciler } from '../reconcilers/reconcile.ts'

/** Folder with `smd`, `smd-init`, `bss` and SMD's `migrations`, built from their public source: `OPENCHAMI=DIR npm run test:long -- real-services`. */
const folder = process.env.OPENCHAMI
const SMD = 'http://127.0.0.1:27779'
const BSS = 'http://127.0.0.1:27778'

describe.runIf(folder)("OpenCHAMI's SMD and BSS", () => {
  let t: TestRuntime
  let worker: Reconciler
  let ours: TenantFixture
  const services: ChildProcess[] = []
  const start = (name: string, args: string[], env = {}) =>
    services.push(spawn(path.join(folder!, name), args, { stdio: 'ignore', env: { ...process.env, ...env } }))
  beforeAll(async () => {
    t = await testRuntime()
    const database = new URL(t.url)
    const db = [`-dbhost=${database.hostname}`, `-dbport=${database.port}`, `-dbuser=${database.username}`, '-dbname=smd']
    await t.asOwner('create database smd')
    const env = { SMD_DBPASS: decodeURIComponent(database.password), POSTGRES_PASSWORD: decodeURIComponent(database.password) }
    execFileSync(path.join(folder!, 'smd-init'), [...db, '-dbopts=sslmode=disable', `-migrationsdir=${folder}/migrations`], {
      env: { ...process.env, ...env },
    })
    start(
      'smd',
      ['-dbtype=postgres', ...db, '-dbopts=sslmode=disable', '-http-listen=127.0.0.1:27779', '-tls-cert=', '-tls-key='],
      env,
    )
    start('bss', ['-http-listen=127.0.0.1:27778', `-hsm=${SMD}`, '-cloud-init-address=127.0.0.1'])
    const answers = async (url: string) => expect((await fetch(url)).ok).toBe(true)
    await vi.waitFor(() => answers(`${SMD}/hsm/v2/service/ready`), { timeout: 30_000, interval: 200 })
    await vi.waitFor(() => answers(`${BSS}/boot/v1/bootparameters`), { timeout: 30_000, interval: 200 })
    ours = await t.given.tenant()
    worker = reconcileOpenchami(t.runtime, 'worker 1', LOOPBACK)
  }, 120_000)
  afterAll(async () => {
    await worker?.stop()
    for (const service of services) service.kill()
    await t?.close()
  })

  /** The target after a push. */
  const push = async () => {
    await checkOpenchamiTarget(ours.admin, { mode: 'PUSH' })
    const isOurs = eq(openchamiTargets.tenantId, ours.tenant.id)
    return vi.waitFor(
      async () => {
        worker.trigger()
        const [target] = await t.runtime.db.select().from(openchamiTargets).where(isOurs)
        expect(target!.requestedAt).toBeNull()
        return target!
      },
      { timeout: 60_000, interval: 100 },
    )
  }
  it('gets our nodes, groups and boot parameters, and their changes', async () => {
    const ids = []
    for (const i of [1, 2]) {
      const { id } = await addNode(ours.admin, {
        ...{ name: `node${i}`, host: `10.0.0.${i}`, xname: `x1000c0s${i}b0n0`, nid: i },
        interfaces: [{ name: 'eth0', mac: `02:00:00:00:00:0${i}`, isBoot: true, addresses: [{ address: `10.0.0.${i}` }] }],
      })
      ids.push(id)
    }
    const group = await createNodeGroup(ours.admin, { name: 'row_a', displayName: 'row-a', description: 'Row A' })
    await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: ids })
    const profile = await createBootProfile(ours.admin, {
      ...{ name: 'base', kernel: { url: 'http://10.0.0.1/vmlinuz' }, initrds: [{ url: 'http://10.0.0.1/initrd' }] },
      kernelParams: ['quiet', 'console=ttyS0'],
    })
    await assignBootProfile(ours.admin, { profileId: profile.id, allNodes: true })
    await setOpenchamiTarget(ours.admin, { smdUrl: SMD, bssUrl: BSS }, LOOPBACK)
    expect(await push()).toMatchObject({ error: null, pushedCount: 7, differences: [] })
    await updateNode(ours.admin, { id: ids[0]!, nid: 77, nodeType: 'LOGIN' })
    await setNodeGroupMembers(ours.admin, { id: group.id, removeNodeIds: [ids[1]!] })
    expect(await push()).toMatchObject({ error: null, pushedCount: 2, differences: [] })
  })
})
