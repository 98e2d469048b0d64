import { and, eq, isNotNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { Conflict, NotFound, parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotUndrain } from './policy.ts'
import { type Worker, workers } from './tables.ts'

/**
 * Let a drained worker take work again.
 * @throws Conflict when it takes work
 * @throws NotFound when there is no such worker
 */
export async function undrainWorker(ctx: Ctx, input: z.input<typeof ById>): Promise<Worker> {
  authorize(ctx, 'worker:drain')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [worker] = await tx
      .update(workers)
      .set({ drainingAt: null, drainedByName: null })
      .where(and(eq(workers.id, id), isNotNull(workers.drainingAt)))
      .returning()
    if (!worker) {
      const [now] = await tx.select().from(workers).where(eq(workers.id, id))
      if (!now) throw new NotFound(`There is no worker ${id}; \`muster worker list\` shows those that are there.`)
      throw new Conflict(
        whyNotUndrain(ctx.actor, now) ?? `The worker ${now.name} changed at the same moment; look at it and try again.`,
      )
    }
    await audit(tx, ctx, 'worker.undrain', { id, name: worker.name })
    afterwards({ topic: 'worker', id, tenantId: ctx.tenantId })
    return worker
  })
}
