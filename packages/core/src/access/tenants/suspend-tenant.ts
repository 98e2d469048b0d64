import { eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, NotFound, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { queueChanged } from '../../run-queue/change-events.ts'
import { tenantAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { installationAdminRemains } from '../installation-admin-remains.ts'
import { tenantPermissions } from '../permissions.ts'
import { suspendTenantBlockedReason } from '../policy.ts'
import { members, type Tenant, tenants } from '../tables.ts'

/**
 * Suspends a tenant until `resumeTenant`: its members and tokens have no access, and none of its runs starts. Active runs continue.
 * @throws NotFound; Conflict it is already suspended, the caller works in it, or no installation administrator would have access
 */
export async function suspendTenant(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Tenant> {
  authorize(ctx, tenantPermissions.manage)
  const { id } = parseInput(IdInput, input)
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const [before] = await tx.select().from(tenants).where(eq(tenants.id, id)).for('no key update')
    if (!before) throw new NotFound(`There is no tenant ${id}.`)
    const reason = suspendTenantBlockedReason(ctx.actor, before, ctx.tenantId)
    if (reason) throw new Conflict(reason)
    if (!(await installationAdminRemains(tx, eq(members.tenantId, id))))
      throw new Conflict(
        `No installation administrator is an active member of another tenant than ${before.name}. Add one to another tenant first.`,
      )
    const [tenant] = await tx
      .update(tenants)
      .set({ suspendedAt: sql`now()`, ...actorColumns(ctx, 'suspended') })
      .where(eq(tenants.id, id))
      .returning()
    for (const tenantId of [id, null]) await audit(tx, { ...ctx, tenantId }, tenantAudit.suspend, tenant!)
    ctx.notify(accessChanged({ id, tenantId: id }))
    ctx.notify(queueChanged({ id, tenantId: id }))
    return tenant!
  })
}
