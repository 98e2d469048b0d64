import { tenants } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction, type SystemCtx } from '../kernel/context.ts'
import { jobTemplateAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { syncBuiltInTemplates } from './sync-built-in-templates.ts'

/**
 * Creates or updates the built-in templates of every tenant. Muster calls it at each start, because tenants may have those of an
 * older version.
 */
export async function updateBuiltInTemplates(caller: SystemCtx): Promise<void> {
  const ctx: Ctx = { ...caller, systemDb: caller.db, tenantId: '' }
  authorize(ctx, templatePermissions.updateBuiltIn)
  const all = await ctx.db.select({ id: tenants.id, name: tenants.name }).from(tenants)
  for (const tenant of all)
    await inTransaction(ctx, async (tx) => {
      const names = await syncBuiltInTemplates(tx, tenant.id)
      if (names.length > 0) await audit(tx, { ...ctx, tenantId: tenant.id }, jobTemplateAudit.updateBuiltIn, tenant, { names })
    })
}
