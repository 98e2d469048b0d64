import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/index.ts'
import { claimNextJobRun, wakeWaitingJobRuns } from '../../run-queue/index.ts'
import { runJob } from '../../runs/index.ts'
import { updateBuiltInTemplates } from '../../templates/index.ts'
import { jobTemplates } from '../../templates/tables.ts'
import { race } from '../../testing/race.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { findActorByToken, findMemberships } from '../queries.ts'
import { createApiToken } from '../tokens/create-api-token.ts'
import { createTenant } from './create-tenant.ts'
import { resumeTenant } from './resume-tenant.ts'
import { suspendTenant } from './suspend-tenant.ts'
import { updateTenant } from './update-tenant.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

describe('createTenant', () => {
  test('creates the built-in templates', async () => {
    const tenant = await createTenant(t.runtime, { name: 'fresh' })
    const templates = await t.runtime.db.select().from(jobTemplates).where(eq(jobTemplates.tenantId, tenant.id))
    expect(templates.map((x) => x.name)).toEqual(expect.arrayContaining(['connectivity_check', 'collect_facts']))
  })

  test('a later version updates the built-in templates and no others', async () => {
    const { db } = t.runtime
    const tenant = await createTenant(t.runtime, { name: 'grown' })
    const named = (name: string) => and(eq(jobTemplates.tenantId, tenant.id), eq(jobTemplates.name, name))
    await db.delete(jobTemplates).where(named('install_amd_driver'))
    await db.update(jobTemplates).set({ description: 'old', inputSchema: null }).where(named('install_nvidia_driver'))
    await db.update(jobTemplates).set({ isSystem: false, description: 'mine' }).where(named('deploy_node_exporter'))
    await Promise.all([updateBuiltInTemplates(t.runtime), updateBuiltInTemplates(t.runtime)])
    const now = new Map(
      (await db.select().from(jobTemplates).where(eq(jobTemplates.tenantId, tenant.id))).map((row) => [row.name, row]),
    )
    expect(now.size).toBe(9)
    expect(now.get('install_nvidia_driver')!.inputSchema).toMatchObject({ properties: { install_cuda: { type: 'boolean' } } })
    expect(now.get('deploy_node_exporter')).toMatchObject({ isSystem: false, description: 'mine' })
    const entries = await db.select().from(auditEntries).where(eq(auditEntries.tenantId, tenant.id))
    expect(entries.filter(({ action }) => action === 'job_template.update_built_in').map(({ details }) => details)).toEqual([
      { names: expect.arrayContaining(['install_amd_driver', 'install_nvidia_driver']) },
    ])
  })

  test('only one of two concurrent calls succeeds', async () => {
    const { won, lost } = await race(createTenant(t.runtime, { name: 'twin' }), createTenant(t.runtime, { name: 'twin' }))
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })
})

const actionsOf = async (tenantId: string) =>
  (await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.tenantId, tenantId))).map(({ action }) => action)

describe('installation administrators', () => {
  test('create a tenant, own it, rename it and limit its runs', async () => {
    const { installationAdmin } = await t.given.tenant()
    const tenant = await createTenant(installationAdmin, { name: 'gpu team', idempotencyKey: 'k' })
    expect(await createTenant(installationAdmin, { name: 'gpu team', idempotencyKey: 'k' })).toMatchObject({ id: tenant.id })
    const own = await findMemberships(t.runtime.db, installationAdmin.actor.id!)
    expect(own.find(({ tenantId }) => tenantId === tenant.id)).toMatchObject({ role: 'owner', tenantName: 'gpu team' })
    expect(await updateTenant(installationAdmin, { id: tenant.id, name: 'ml team', maxConcurrentRuns: 2 })).toMatchObject({
      name: 'ml team',
      maxConcurrentRuns: 2,
    })
    expect(await updateTenant(installationAdmin, { id: tenant.id, maxConcurrentRuns: null })).toMatchObject({
      name: 'ml team',
      maxConcurrentRuns: null,
    })
    expect(await actionsOf(tenant.id)).toEqual(expect.arrayContaining(['tenant.create', 'member.add', 'tenant.update']))
    const other = await t.given.tenant()
    await expect(updateTenant(installationAdmin, { id: other.tenant.id, name: 'ml team' })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
  })

  test('suspend a tenant: its tokens and members have no access and its runs do not start, until it is resumed', async () => {
    const { installationAdmin } = await t.given.tenant()
    const ours = await t.given.tenant()
    const id = ours.tenant.id
    const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
    await t.given.fleet(ours.operator, { nodes: 1, with: { credentialId } })
    const run = await runJob(ours.operator, { template: 'connectivity_check', limit: 'all' })
    const { token } = await createApiToken(ours.owner, { name: 'ci', role: 'viewer' })
    const hasAccess = async () => [
      (await findActorByToken(t.runtime.db, token, '192.0.2.1')) !== null,
      (await findMemberships(t.runtime.db, ours.viewer.actor.id!)).length > 0,
    ]
    const claimed = async () => {
      const next = await claimNextJobRun(t.runtime, { workerId: 'w', token: crypto.randomUUID() })
      return next === null || next === 'draining' ? next : next.claim.run.id
    }
    expect(await hasAccess()).toEqual([true, true])
    expect(await suspendTenant(installationAdmin, { id })).toMatchObject({
      suspendedAt: expect.any(Date),
      suspendedByName: installationAdmin.actor.name,
    })
    expect(await hasAccess()).toEqual([false, false])
    expect(await claimed()).toBeNull()
    await expect(suspendTenant(installationAdmin, { id })).rejects.toMatchObject({
      message: expect.stringContaining('already suspended'),
    })
    expect(await resumeTenant(installationAdmin, { id })).toMatchObject({ suspendedAt: null, suspendedByName: null })
    expect(await hasAccess()).toEqual([true, true])
    await wakeWaitingJobRuns(t.runtime)
    expect(await claimed()).toBe(run.id)
    await expect(resumeTenant(installationAdmin, { id })).rejects.toMatchObject({
      message: expect.stringContaining('not suspended'),
    })
    expect(await actionsOf(id)).toEqual(expect.arrayContaining(['tenant.suspend', 'tenant.resume']))
  })

  test('cannot suspend the tenant in which they work', async () => {
    const { installationAdmin, tenant } = await t.given.tenant()
    await expect(suspendTenant(installationAdmin, { id: tenant.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('Switch to another tenant'),
    })
  })

  test('are the only ones who do this', async () => {
    const { owner, tenant } = await t.given.tenant()
    const { id } = (await t.given.tenant()).tenant
    for (const call of [
      () => createTenant(owner, { name: 'x' }),
      () => updateTenant(owner, { id: tenant.id, maxConcurrentRuns: 1000 }),
      () => suspendTenant(owner, { id }),
      () => resumeTenant(owner, { id }),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('installation administrator'),
      })
  })
})
