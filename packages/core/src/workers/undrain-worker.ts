import { and, eq, isNotNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { workerAudit } from './audit-actions.ts'
import { workerChanged } from './change-events.ts'
import { workerPermissions } from './permissions.ts'
import { undrainBlockedReason } from './policy.ts'
import { type Worker, workers } from './tables.ts'

/**
 * Undrains a worker, which then claims work again.
 * @throws Conflict when it is not drained
 * @throws NotFound when there is no such worker
 */
export async function undrainWorker(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Worker> {
  authorize(ctx, workerPermissions.drain)
  const { id } = parseInput(IdInput, input)
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const [worker] = await tx
      .update(workers)
      .set({ drainedAt: null, drainedById: null, drainedByName: null })
      .where(and(eq(workers.id, id), isNotNull(workers.drainedAt)))
      .returning()
    if (!worker) throw await notFoundOrConflict(tx, ctx, workers, id, 'worker', (row) => undrainBlockedReason(ctx.actor, row))
    await audit(tx, { ...ctx, tenantId: null }, workerAudit.undrain, { id, name: worker.name })
    ctx.notify(workerChanged({ id, tenantId: ctx.tenantId }))
    return worker
  })
}
