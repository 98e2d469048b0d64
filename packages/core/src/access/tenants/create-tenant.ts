import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction, type SystemCtx } from '../../kernel/context.ts'
import { nameTaken } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { syncBuiltInTemplates } from '../../templates/index.ts'
import { tenantAudit } from '../audit-actions.ts'
import { tenantPermissions } from '../permissions.ts'
import { type Tenant, tenants } from '../tables.ts'

export const CreateTenantInput = z.object({ name: singleLineText(100) })

/**
 * Creates a tenant with the built-in job templates. Called only at the first start, never over the network.
 * @throws Conflict the name is taken
 */
export async function createTenant(caller: SystemCtx, input: z.input<typeof CreateTenantInput>): Promise<Tenant> {
  const { name } = parseInput(CreateTenantInput, input)
  const ctx: Ctx = { ...caller, systemDb: caller.db, tenantId: '' }
  authorize(ctx, tenantPermissions.create)
  return inTransaction(ctx, async (tx) => {
    const [tenant] = await tx.insert(tenants).values({ name }).onConflictDoNothing().returning()
    if (!tenant) throw nameTaken('tenant', name)
    await syncBuiltInTemplates(tx, tenant.id)
    await audit(tx, { ...ctx, tenantId: tenant.id }, tenantAudit.create, tenant)
    return tenant
  })
}
