import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, NotFound, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { queueChanged } from '../../run-queue/change-events.ts'
import { tenantAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { tenantPermissions } from '../permissions.ts'
import { type Tenant, tenants } from '../tables.ts'

/** Gives the members and tokens of a suspended tenant access again; its waiting runs start. @throws NotFound, Conflict it is not suspended */
export async function resumeTenant(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Tenant> {
  authorize(ctx, tenantPermissions.manage)
  const { id } = parseInput(IdInput, input)
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const [before] = await tx.select().from(tenants).where(eq(tenants.id, id)).for('no key update')
    if (!before) throw new NotFound(`There is no tenant ${id}.`)
    if (before.deletedAt) throw new Conflict(`The tenant ${before.name} is being deleted.`)
    if (!before.suspendedAt) throw new Conflict(`The tenant ${before.name} is not suspended.`)
    const [tenant] = await tx
      .update(tenants)
      .set({ suspendedAt: null, suspendedById: null, suspendedByName: null })
      .where(eq(tenants.id, id))
      .returning()
    for (const tenantId of [id, null]) await audit(tx, { ...ctx, tenantId }, tenantAudit.resume, tenant!)
    ctx.notify(accessChanged({ id, tenantId: id }))
    ctx.notify(queueChanged({ id, tenantId: id }))
    return tenant!
  })
}
