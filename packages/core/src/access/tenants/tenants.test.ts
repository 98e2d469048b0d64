import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/index.ts'
import { updateBuiltInTemplates } from '../../templates/index.ts'
import { jobTemplates } from '../../templates/tables.ts'
import { race } from '../../testing/race.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { createTenant } from './create-tenant.ts'

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
