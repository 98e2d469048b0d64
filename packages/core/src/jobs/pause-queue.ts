import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Tenant, tenants } from '../access/tables.ts'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { Conflict, parseInput } from '../errors.ts'
import { oneLine } from '../input.ts'

export const PauseQueueInput = z.object({ reason: oneLine(500) })

/**
 * Let no run of the tenant begin until the queue is resumed. Runs under way go on; new ones may be asked for and wait.
 * @throws Conflict when it is paused already: by whom, and why
 */
export async function pauseQueue(ctx: Ctx, input: z.input<typeof PauseQueueInput>): Promise<Tenant> {
  authorize(ctx, 'queue:write')
  const { reason } = parseInput(PauseQueueInput, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const mine = eq(tenants.id, ctx.tenantId)
    const [paused] = await tx
      .update(tenants)
      .set({ queuePausedAt: sql`now()`, queuePausedByName: ctx.actor.name, queuePauseReason: reason })
      .where(and(mine, isNull(tenants.queuePausedAt)))
      .returning()
    if (!paused) {
      const [now] = await tx.select().from(tenants).where(mine)
      throw new Conflict(`The queue is paused already, by ${now!.queuePausedByName}: ${now!.queuePauseReason}. Resume it first.`)
    }
    await audit(tx, ctx, 'queue.pause', { id: ctx.tenantId, name: paused.name }, { reason })
    afterwards({ topic: 'queue', id: ctx.tenantId, tenantId: ctx.tenantId })
    return paused
  })
}
