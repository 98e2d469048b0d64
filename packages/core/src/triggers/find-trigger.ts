import { and, eq, isNull } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { triggerPermissions } from './permissions.ts'
import { type Trigger, triggers } from './tables.ts'

/** A trigger of any tenant with its decrypted secret. Null when there is none, or its tenant is suspended or deleted. */
export async function findTrigger(ctx: SystemCtx, id: string): Promise<{ trigger: Trigger; secret: string } | null> {
  authorize(ctx, triggerPermissions.receive)
  const [found] = await ctx.db
    .select({ trigger: triggers })
    .from(triggers)
    .innerJoin(tenants, eq(tenants.id, triggers.tenantId))
    .where(and(eq(triggers.id, id), isNull(tenants.suspendedAt), isNull(tenants.deletedAt)))
  if (!found) return null
  const { trigger } = found
  // Not audited: it only verifies signatures, and anybody can cause it.
  const place = { tenantId: trigger.tenantId, objectId: id, field: 'secret' }
  return { trigger, secret: await ctx.vault.open(place, trigger.encrypted.secret ?? '') }
}
