import { audit, authorize, type Ctx, inTransaction, type Runtime } from '../context.ts'
import { syncBuiltInTemplates } from '../jobs/index.ts'
import { tenants } from './tables.ts'

/** Give every tenant the built-in job templates of this version. Muster itself does it at each start, for tenants of older versions. */
export async function updateBuiltInTemplates(runtime: Runtime): Promise<void> {
  const ctx: Ctx = { ...runtime, actor: { kind: 'system', id: null, name: 'Muster' }, tenantId: '' }
  authorize(ctx, 'tenant:create')
  const all = await runtime.db.select({ id: tenants.id, name: tenants.name }).from(tenants)
  for (const tenant of all)
    await inTransaction(ctx, async (tx) => {
      const names = await syncBuiltInTemplates(tx, tenant.id)
      if (names.length > 0) await audit(tx, { ...ctx, tenantId: tenant.id }, 'job_template.update_built_in', tenant, { names })
    })
}
