import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { Conflict, NotFound, parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotDrain } from './policy.ts'
import { type Worker, workers } from './tables.ts'

/**
 * Let a worker take no more work and finish what it has. It stays, and shows when it has nothing left.
 * @throws Conflict when it is drained already
 * @throws NotFound when there is no such worker
 */
export async function drainWorker(ctx: Ctx, input: z.input<typeof ById>): Promise<Worker> {
  authorize(ctx, 'worker:drain')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [worker] = await tx
      .update(workers)
      .set({ drainingAt: sql`now()`, drainedByName: ctx.actor.name })
      .where(and(eq(workers.id, id), isNull(workers.drainingAt)))
      .returning()
    if (!worker) {
      const [now] = await tx.select().from(workers).where(eq(workers.id, id))
      if (!now) throw new NotFound(`There is no worker ${id}; \`muster worker list\` shows those that are there.`)
      throw new Conflict(
        whyNotDrain(ctx.actor, now) ?? `The worker ${now.name} changed at the same moment; look at it and try again.`,
      )
    }
    await audit(tx, ctx, 'worker.drain', { id, name: worker.name })
    afterwards({ topic: 'worker', id, tenantId: ctx.tenantId })
    return worker
  })
}
