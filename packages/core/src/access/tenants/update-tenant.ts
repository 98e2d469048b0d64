import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { nameTaken, sqlState, UNIQUE_VIOLATION } from '../../kernel/db/rows.ts'
import { NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { queueChanged } from '../../run-queue/change-events.ts'
import { tenantAudit } from '../audit-actions.ts'
import { tenantPermissions } from '../permissions.ts'
import { type Tenant, tenants } from '../tables.ts'
import { TenantName } from './create-tenant.ts'

export const UpdateTenantInput = z.object({
  id: Id,
  name: TenantName.optional(),
  maxConcurrentRuns: z.int().min(1).max(10_000).nullish(),
  maxNodes: z.int().min(0).max(10_000_000).nullish(),
})

/**
 * Renames a tenant or sets its quotas; null removes one. Active runs continue, and nodes beyond the quota stay.
 * @throws NotFound; Conflict the name is taken
 */
export async function updateTenant(ctx: Ctx, input: z.input<typeof UpdateTenantInput>): Promise<Tenant> {
  authorize(ctx, tenantPermissions.manage)
  const { id, ...fields } = parseInput(UpdateTenantInput, input)
  const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const work = inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const [before] = await tx.select().from(tenants).where(eq(tenants.id, id)).for('no key update')
    if (!before) throw new NotFound(`There is no tenant ${id}.`)
    if (Object.keys(changes).length === 0) return before
    const [tenant] = await tx.update(tenants).set(changes).where(eq(tenants.id, id)).returning()
    for (const tenantId of [id, null])
      await audit(tx, { ...ctx, tenantId }, tenantAudit.update, tenant!, { changed: Object.keys(changes).sort() })
    ctx.notify(queueChanged({ id, tenantId: id }))
    return tenant!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('tenant', fields.name)
    throw error
  })
}
