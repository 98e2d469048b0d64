import { tmpdir } from 'node:os'
import path from 'node:path'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { localStore } from '../../artifacts/index.ts'
import { auditEntries } from '../../audit/index.ts'
import { createNodeGroup } from '../../groups/index.ts'
import { systemCtx } from '../../kernel/context.ts'
import { decommissionNode } from '../../node-states/index.ts'
import { addNode, importNodes, recommissionNode } from '../../nodes/index.ts'
import { rotateCredential } from '../../rotations/index.ts'
import { credentialRotations } from '../../rotations/tables.ts'
import { claimNextJobRun, wakeWaitingJobRuns } from '../../run-queue/index.ts'
import { runJob } from '../../runs/index.ts'
import { jobRuns } from '../../runs/tables.ts'
import { BUILT_IN_TEMPLATES, updateBuiltInTemplates } from '../../templates/index.ts'
import { jobTemplates } from '../../templates/tables.ts'
import { race } from '../../testing/race.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { setVars } from '../../variables/index.ts'
import { appointInstallationAdmin } from '../appoint-installation-admin.ts'
import { dismissInstallationAdmin } from '../dismiss-installation-admin.ts'
import { createServiceAccount } from '../members/create-service-account.ts'
import { findActorByToken, findMemberships } from '../queries.ts'
import { tenants, users } from '../tables.ts'
import { createApiToken } from '../tokens/create-api-token.ts'
import { createTenant } from './create-tenant.ts'
import { deleteTenant } from './delete-tenant.ts'
import { purgeDeletedTenants } from './purge-deleted-tenants.ts'
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
    expect(now.size).toBe(BUILT_IN_TEMPLATES.length)
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

/** Actions in the chain of the installation, which remain when a tenant is deleted. */
const installationActionsOn = async (objectId: string) =>
  (
    await t.runtime.db
      .select()
      .from(auditEntries)
      .where(and(isNull(auditEntries.tenantId), eq(auditEntries.objectId, objectId)))
      .orderBy(auditEntries.id)
  ).map(({ action }) => action)

describe('installation administrators', () => {
  test('create a tenant, own it, rename it and limit its runs', async () => {
    const { installationAdmin } = await t.given.tenant()
    const tenant = await createTenant(installationAdmin, { name: 'gpu team', idempotencyKey: 'k' })
    expect(await createTenant(installationAdmin, { name: 'gpu team', idempotencyKey: 'k' })).toMatchObject({ id: tenant.id })
    const own = await findMemberships(t.runtime.db, installationAdmin.actor.id!)
    expect(own.find(({ tenantId }) => tenantId === tenant.id)).toMatchObject({
      authority: { role: 'owner' },
      tenantName: 'gpu team',
    })
    expect(await updateTenant(installationAdmin, { id: tenant.id, name: 'ml team', maxConcurrentRuns: 2 })).toMatchObject({
      name: 'ml team',
      maxConcurrentRuns: 2,
    })
    expect(await updateTenant(installationAdmin, { id: tenant.id, maxConcurrentRuns: null })).toMatchObject({
      name: 'ml team',
      maxConcurrentRuns: null,
    })
    expect(await actionsOf(tenant.id)).toEqual(expect.arrayContaining(['tenant.create', 'member.add', 'tenant.update']))
    expect(await installationActionsOn(tenant.id)).toEqual(['tenant.create', 'tenant.update', 'tenant.update'])
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
    expect(await installationActionsOn(id)).toEqual(['tenant.create', 'tenant.suspend', 'tenant.resume'])
  })

  test('cannot suspend the tenant in which they work', async () => {
    const { installationAdmin, tenant } = await t.given.tenant()
    await expect(suspendTenant(installationAdmin, { id: tenant.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('Switch to another tenant'),
    })
  })

  test('are the only callers with these permissions', async () => {
    const { owner, tenant } = await t.given.tenant()
    const { id } = (await t.given.tenant()).tenant
    for (const call of [
      () => createTenant(owner, { name: 'x' }),
      () => updateTenant(owner, { id: tenant.id, maxConcurrentRuns: 1000 }),
      () => suspendTenant(owner, { id }),
      () => resumeTenant(owner, { id }),
      () => deleteTenant(owner, { id }),
      () => appointInstallationAdmin(owner, { email: 'x@muster.test' }),
      () => dismissInstallationAdmin(owner, { userId: owner.actor.id! }),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('installation administrator'),
      })
  })
})

describe('deleteTenant', () => {
  const store = localStore(path.join(tmpdir(), `muster-no-artifacts-${process.pid}`))

  /** Rows per table that belong to the tenant, of all tables with a tenant. */
  async function rowsOf(tenantId: string): Promise<Record<string, number>> {
    const { rows } = await t.runtime.db.execute<{ name: string }>(sql`
      select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'tenant_id' order by 1`)
    const counts: Record<string, number> = {}
    for (const { name } of rows) {
      const found = await t.runtime.db.execute(sql`select from ${sql.identifier(name)} where tenant_id = ${tenantId}`)
      if (found.rowCount) counts[name] = found.rowCount
    }
    return counts
  }

  test('removes the tenant with all its rows, and nothing of other tenants', async () => {
    const remaining = await t.given.tenant()
    const { installationAdmin, tenant: kept } = remaining
    const gone = await t.given.tenant()
    for (const { admin, operator, owner } of [remaining, gone]) {
      const { id: credentialId } = await t.given.credential(admin, 'SSH_KEY')
      const nodes = await t.given.fleet(admin, { nodes: 2, with: { credentialId } })
      await createNodeGroup(admin, { name: 'parent' })
      await setVars(admin, { nodeId: nodes[0]!.id, text: 'a: 1', basedOn: 0 })
      await runJob(operator, { template: 'connectivity_check', limit: 'all' })
      await createApiToken(owner, { name: 'ci', role: 'viewer' })
      await createServiceAccount(owner, { name: 'bot', role: 'viewer' })
    }
    const before = await rowsOf(kept.id)
    const serviceAccounts = await t.runtime.db.$count(users, eq(users.isServiceAccount, true))
    expect(Object.keys(await rowsOf(gone.tenant.id)).length).toBeGreaterThan(10)

    const { id } = gone.tenant
    await suspendTenant(installationAdmin, { id })
    expect(await deleteTenant(installationAdmin, { id })).toMatchObject({
      deletedAt: expect.any(Date),
      deletedByName: installationAdmin.actor.name,
    })
    for (const verb of [deleteTenant, resumeTenant])
      await expect(verb(installationAdmin, { id })).rejects.toMatchObject({ message: expect.stringContaining('being deleted') })
    expect(await purgeDeletedTenants(systemCtx(t.runtime), store)).toBe(1)
    expect(await rowsOf(id)).toEqual({})
    expect(await t.runtime.db.$count(tenants, eq(tenants.id, id))).toBe(0)
    expect(await rowsOf(kept.id)).toEqual(before)
    expect(await t.runtime.db.$count(users, eq(users.isServiceAccount, true))).toBe(serviceAccounts - 1)
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, id))
    expect(entries.map(({ action, tenantId, objectName }) => ({ action, tenantId, objectName }))).toEqual(
      expect.arrayContaining(
        ['tenant.delete', 'tenant.purge'].map((action) => ({ action, tenantId: null, objectName: gone.tenant.name })),
      ),
    )
    expect(await purgeDeletedTenants(systemCtx(t.runtime), store)).toBe(0)
  })

  test('is rejected while the tenant or one of its runs is active', async () => {
    const { installationAdmin } = await t.given.tenant()
    const { admin, operator, tenant } = await t.given.tenant()
    const { id } = tenant
    await expect(deleteTenant(installationAdmin, { id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `The tenant ${tenant.name} is active. Suspend it first.`,
    })
    const { id: credentialId } = await t.given.credential(admin, 'SSH_KEY')
    await t.given.fleet(admin, { nodes: 1, with: { credentialId } })
    const run = await runJob(operator, { template: 'connectivity_check', limit: 'all' })
    await t.runtime.db.update(jobRuns).set({ startedAt: new Date() }).where(eq(jobRuns.id, run.id))
    await suspendTenant(installationAdmin, { id })
    await expect(deleteTenant(installationAdmin, { id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('has 1 active run'),
    })
  })

  test('is rejected while a rotation is unfinished, whose row alone has the new password of nodes', async () => {
    const { installationAdmin } = await t.given.tenant()
    const { admin, tenant } = await t.given.tenant()
    const credential = await t.given.credential(admin, 'SSH_PASSWORD')
    await t.given.fleet(admin, { with: { credentialId: credential.id } })
    const rotation = await rotateCredential(admin, { id: credential.id })
    await suspendTenant(installationAdmin, { id: tenant.id })
    await expect(deleteTenant(installationAdmin, { id: tenant.id })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`unfinished rotations of ${credential.name}`),
    })
    await t.runtime.db.update(credentialRotations).set({ finishedAt: new Date() }).where(eq(credentialRotations.id, rotation.id))
    await deleteTenant(installationAdmin, { id: tenant.id })
  })
})

describe('quota of nodes', () => {
  test('rejects adding, importing and recommissioning beyond the quota, also concurrently', async () => {
    const { installationAdmin } = await t.given.tenant()
    const { operator, tenant } = await t.given.tenant()
    await updateTenant(installationAdmin, { id: tenant.id, maxNodes: 2 })
    const add = (name: string) => addNode(operator, { name, host: '192.0.2.1' })
    const first = await add('first')
    const { won, lost } = await race(add('a'), add('b'), add('c'))
    expect([won.length, lost.map((e) => e.message)]).toEqual([
      1,
      Array(2).fill(expect.stringContaining(`${tenant.name} would have 3 nodes; its quota is 2`)),
    ])
    await expect(importNodes(operator, { format: 'CSV', text: 'name,host\nd,192.0.2.2' })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    await decommissionNode(operator, { id: first.id })
    await add('d')
    await expect(recommissionNode(operator, { id: first.id })).rejects.toMatchObject({ code: 'CONFLICT' })
    await updateTenant(installationAdmin, { id: tenant.id, maxNodes: null })
    expect(await recommissionNode(operator, { id: first.id })).toMatchObject({ decommissionedAt: null })
  })
})

describe('installation administrators appoint others', () => {
  test('by email address, until one remains', async () => {
    const { installationAdmin, owner, viewer } = await t.given.tenant()
    const [user] = await t.runtime.db.select().from(users).where(eq(users.id, viewer.actor.id!))
    const email = user!.email
    expect(await appointInstallationAdmin(installationAdmin, { email: email.toUpperCase() })).toMatchObject({
      isInstallationAdmin: true,
    })
    await expect(appointInstallationAdmin(installationAdmin, { email })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(appointInstallationAdmin(installationAdmin, { email: 'nobody@muster.test' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('Invite the person'),
    })
    const bot = await createServiceAccount(owner, { name: 'robot', role: 'viewer' })
    const [account] = await t.runtime.db.select().from(users).where(eq(users.id, bot.userId))
    await expect(appointInstallationAdmin(installationAdmin, { email: account!.email })).rejects.toMatchObject({
      code: 'CONFLICT',
    })

    const dismiss = (userId: string) => dismissInstallationAdmin(installationAdmin, { userId })
    expect(await dismiss(user!.id)).toMatchObject({ isInstallationAdmin: false })
    // Other administrators see it, and it outlives this tenant.
    expect(await installationActionsOn(user!.id)).toEqual([
      'member.appoint_installation_admin',
      'member.dismiss_installation_admin',
    ])
    await expect(dismiss(user!.id)).rejects.toMatchObject({
      message: expect.stringContaining('is not an installation administrator'),
    })
    const others = await t.runtime.db.select().from(users).where(eq(users.isInstallationAdmin, true))
    const { won, lost } = await race(...others.map(({ id }) => dismiss(id)))
    expect([won.length, lost.map((e) => e.message)]).toEqual([
      others.length - 1,
      [expect.stringContaining('is the only installation administrator')],
    ])
    await t.runtime.db.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, installationAdmin.actor.id!))
  })
})
