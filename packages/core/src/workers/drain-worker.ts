import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { workerAudit } from './audit-actions.ts'
import { workerChanged } from './change-events.ts'
import { workerPermissions } from './permissions.ts'
import { drainBlockedReason } from './policy.ts'
import { type Worker, workers } from './tables.ts'

/**
 * Drains a worker: it claims no more work and finishes its runs. It stays registered and reports when it has no runs left.
 * @throws Conflict when it is already drained
 * @throws NotFound when there is no such worker
 */
export async function drainWorker(ctx: Ctx, input: z.input<typeof IdInput>): Promise<Worker> {
  authorize(ctx, workerPermissions.drain)
  const { id } = parseInput(IdInput, input)
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const [worker] = await tx
      .update(workers)
      .set({ drainedAt: sql`now()`, ...actorColumns(ctx, 'drained') })
      .where(and(eq(workers.id, id), isNull(workers.drainedAt)))
      .returning()
    if (!worker) throw await notFoundOrConflict(tx, ctx, workers, id, 'worker', (row) => drainBlockedReason(ctx.actor, row))
    await audit(tx, { ...ctx, tenantId: null }, workerAudit.drain, { id, name: worker.name })
    ctx.notify(workerChanged({ id, tenantId: ctx.tenantId }))
    return worker
  })
}
