import { and, eq, isNotNull } from 'drizzle-orm'
import { type Tenant, tenants } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { Conflict } from '../kernel/errors.ts'
import { queueAudit } from './audit-actions.ts'
import { queueChanged } from './change-events.ts'
import { queuePermissions } from './permissions.ts'

/** Lets runs of the tenant start again; waiting runs are enqueued. @throws Conflict when the queue is not paused */
export async function resumeQueue(ctx: Ctx): Promise<Tenant> {
  authorize(ctx, queuePermissions.write)
  return inTransaction(ctx, async (tx, ctx) => {
    const [resumed] = await tx
      .update(tenants)
      .set({ queuePausedAt: null, queuePausedById: null, queuePausedByName: null, queuePauseReason: null })
      .where(and(eq(tenants.id, ctx.tenantId), isNotNull(tenants.queuePausedAt)))
      .returning()
    if (!resumed) throw new Conflict('The queue is not paused; there is nothing to resume.')
    await audit(tx, ctx, queueAudit.resume, { id: ctx.tenantId, name: resumed.name })
    ctx.notify(queueChanged({ id: ctx.tenantId, tenantId: ctx.tenantId }))
    return resumed
  })
}
