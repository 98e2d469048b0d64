import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Tenant, tenants } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { queueAudit } from './audit-actions.ts'
import { queueChanged } from './change-events.ts'
import { queuePermissions } from './permissions.ts'

export const PauseQueueInput = z.object({ reason: singleLineText(500) })

/**
 * Stops new runs of the tenant from starting until the queue is resumed. Active runs continue; new ones can be requested and
 * wait.
 * @throws Conflict when it is already paused, naming who paused it and why
 */
export async function pauseQueue(ctx: Ctx, input: z.input<typeof PauseQueueInput>): Promise<Tenant> {
  authorize(ctx, queuePermissions.write)
  const { reason } = parseInput(PauseQueueInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = eq(tenants.id, ctx.tenantId)
    const [paused] = await tx
      .update(tenants)
      .set({ queuePausedAt: sql`now()`, ...actorColumns(ctx, 'queuePaused'), queuePauseReason: reason })
      .where(and(scope, isNull(tenants.queuePausedAt)))
      .returning()
    if (!paused) {
      const [now] = await tx.select().from(tenants).where(scope)
      throw new Conflict(`The queue is already paused by ${now!.queuePausedByName}: ${now!.queuePauseReason}. Resume it first.`)
    }
    await audit(tx, ctx, queueAudit.pause, { id: ctx.tenantId, name: paused.name }, { reason })
    ctx.notify(queueChanged({ id: ctx.tenantId, tenantId: ctx.tenantId }))
    return paused
  })
}
