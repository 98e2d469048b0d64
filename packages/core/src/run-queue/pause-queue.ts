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
 * Let no run of the tenant begin until the queue is resumed. Runs under way go on; new ones may be asked for and wait.
 * @throws Conflict when it is paused already: by whom, and why
 */
export async function pauseQueue(ctx: Ctx, input: z.input<typeof PauseQueueInput>): Promise<Tenant> {
  authorize(ctx, queuePermissions.write)
  const { reason } = parseInput(PauseQueueInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const mine = eq(tenants.id, ctx.tenantId)
    const [paused] = await tx
      .update(tenants)
      .set({ queuePausedAt: sql`now()`, ...actorColumns(ctx, 'queuePaused'), queuePauseReason: reason })
      .where(and(mine, isNull(tenants.queuePausedAt)))
      .returning()
    if (!paused) {
      const [now] = await tx.select().from(tenants).where(mine)
      throw new Conflict(`The queue is paused already, by ${now!.queuePausedByName}: ${now!.queuePauseReason}. Resume it first.`)
    }
    await audit(tx, ctx, queueAudit.pause, { id: ctx.tenantId, name: paused.name }, { reason })
    ctx.notify(queueChanged({ id: ctx.tenantId, tenantId: ctx.tenantId }))
    return paused
  })
}
