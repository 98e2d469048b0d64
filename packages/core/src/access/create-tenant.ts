import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction, type Runtime } from '../context.ts'
import { Conflict, parseInput } from '../errors.ts'
import { oneLine } from '../input.ts'
import { syncBuiltInTemplates } from '../jobs/index.ts'
import { type Tenant, tenants } from './tables.ts'

export const CreateTenantInput = z.object({ name: oneLine(100) })

/**
 * Make a tenant with the built-in job templates. Muster itself does it at its first start; nobody calls it over the network.
 * @throws Conflict the name is taken
 */
export async function createTenant(runtime: Runtime, input: z.input<typeof CreateTenantInput>): Promise<Tenant> {
  const { name } = parseInput(CreateTenantInput, input)
  const ctx: Ctx = { ...runtime, actor: { kind: 'system', id: null, name: 'Muster' }, tenantId: '' }
  authorize(ctx, 'tenant:create')
  return inTransaction(ctx, async (tx) => {
    const [tenant] = await tx.insert(tenants).values({ name }).onConflictDoNothing().returning()
    if (!tenant) throw new Conflict(`There is already a tenant named ${name}.`)
    await syncBuiltInTemplates(tx, tenant.id)
    await audit(tx, { ...ctx, tenantId: tenant.id }, 'tenant.create', tenant)
    return tenant
  })
}
