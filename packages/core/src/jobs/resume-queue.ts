import { and, eq, isNotNull } from 'drizzle-orm'
import { type Tenant, tenants } from '../access/tables.ts'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { Conflict } from '../errors.ts'

/**
 * Let runs of the tenant begin again; those that waited go into the queue.
 * @throws Conflict when it is not paused
 */
export async function resumeQueue(ctx: Ctx): Promise<Tenant> {
  authorize(ctx, 'queue:write')
  return inTransaction(ctx, async (tx, afterwards) => {
    const [resumed] = await tx
      .update(tenants)
      .set({ queuePausedAt: null, queuePausedByName: null, queuePauseReason: null })
      .where(and(eq(tenants.id, ctx.tenantId), isNotNull(tenants.queuePausedAt)))
      .returning()
    if (!resumed) throw new Conflict('The queue is not paused; there is nothing to resume.')
    await audit(tx, ctx, 'queue.resume', { id: ctx.tenantId, name: resumed.name })
    afterwards({ topic: 'queue', id: ctx.tenantId, tenantId: ctx.tenantId })
    return resumed
  })
}
